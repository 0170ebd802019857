# `gnuplot 08_encoder_fusions_peers_times_encoder_float16.gp` in this folder draws 08_encoder_fusions_peers_times_encoder_float16 from 08_encoder_fusions_peers_times_encoder_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_times_encoder_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: encoder beside others, float16, 12 heads, 64 size per head, 12 layers' at screen 0.02,0.95 left noenhanced font ',21' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'time of one call' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x seq; median time of one call, which may be many kernels; caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7324,0.778 to screen 0.7484,0.806 fc rgb '#D55E00' fs solid noborder
set label '08, its fastest variant' at screen 0.7564,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.726 to screen 0.7484,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'transformers_eager' at screen 0.7564,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.674 to screen 0.7484,0.702 fc rgb '#0072B2' fs solid noborder
set label 'transformers_compile' at screen 0.7564,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.622 to screen 0.7484,0.65 fc rgb '#009E73' fs solid noborder
set label 'transformers_autotune' at screen 0.7564,0.634 left noenhanced tc rgb '#222222'
set xrange [-1:25 - 1]
set xtics ('1 x 128' 1.5, '8 x 128' 6.5, '32 x 128' 11.5, '8 x 512' 16.5, '32 x 384' 21.5) noenhanced scale 0
set boxwidth 0.86
set style fill solid noborder
set logscale y
set ytics ('1 µs' 1, '2 µs' 2, '5 µs' 5, '10 µs' 10, '20 µs' 20, '50 µs' 50, '100 µs' 100, '200 µs' 200, '500 µs' 500, '1 ms' 1e3, '2 ms' 2e3, '5 ms' 5e3, '10 ms' 1e4, '20 ms' 2e4, '50 ms' 5e4, '100 ms' 1e5, '200 ms' 2e5, '500 ms' 5e5, '1 s' 1e6)
set yrange [200:10000]
set label '441' at first 0, first 441.312 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '565' at first 1, first 564.64 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '499' at first 2, first 498.624 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '570' at first 3, first 569.504 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '632' at first 5, first 632.128 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '846' at first 6, first 845.632 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '755' at first 7, first 754.976 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1005' at first 8, first 1005.15 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1577' at first 10, first 1577.34 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1934' at first 11, first 1933.57 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1761' at first 12, first 1761.47 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1905' at first 13, first 1904.67 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1736' at first 15, first 1735.62 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '2048' at first 16, first 2047.71 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '1872' at first 17, first 1872.35 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '2022' at first 18, first 2022.24 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '4534' at first 20, first 4534.11 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '5319' at first 21, first 5319.39 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '4723' at first 22, first 4722.72 center offset 0,0.5 front font ',10' tc rgb '#222222'
set label '5307' at first 23, first 5307.36 center offset 0,0.5 front font ',10' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_times_encoder_float16.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_peers_times_encoder_float16.csv' skip 1 using ($0 * 5 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_peers_times_encoder_float16.csv' skip 1 using ($0 * 5 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_peers_times_encoder_float16.csv' skip 1 using ($0 * 5 + 3):(column(5)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
