# `gnuplot 08_encoder_fusions_times_attention.gp` in this folder draws 08_encoder_fusions_times_attention from 08_encoder_fusions_times_attention.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_times_attention.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: attention' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'time of one call' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x heads x queries x keys x size; median time of one call, which may be many kernels; caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7732,0.778 to screen 0.7892,0.806 fc rgb '#D55E00' fs solid noborder
set label 'query_per_block' at screen 0.7972,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.726 to screen 0.7892,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'attention' at screen 0.7972,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.674 to screen 0.7892,0.702 fc rgb '#0072B2' fs solid noborder
set label 'query_per_block_sum' at screen 0.7972,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.622 to screen 0.7892,0.65 fc rgb '#009E73' fs solid noborder
set label 'shared_query' at screen 0.7972,0.634 left noenhanced tc rgb '#222222'
set xrange [-1:20 - 1]
set xtics ('32 x 12 x 384 x 384 x'."\n".'64' 1.5, '128 x 32 x 128 x 128 x'."\n".'64' 6.5, '128 x 16 x 128 x 128 x'."\n".'128' 11.5, '1 x 16 x 1 x 16384 x'."\n".'128' 16.5) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set logscale y
set ytics ('1 µs' 1, '2 µs' 2, '5 µs' 5, '10 µs' 10, '20 µs' 20, '50 µs' 50, '100 µs' 100, '200 µs' 200, '500 µs' 500, '1 ms' 1e3, '2 ms' 2e3, '5 ms' 5e3, '10 ms' 1e4, '20 ms' 2e4, '50 ms' 5e4, '100 ms' 1e5, '200 ms' 2e5, '500 ms' 5e5, '1 s' 1e6)
set yrange [50:10000]
set label '4953' at first 0, first 4952.67 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '4953' at first 1, first 4953.41 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '4964' at first 2, first 4963.87 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '6496' at first 5, first 6495.65 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '6492' at first 6, first 6492.45 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '3908' at first 10, first 3907.74 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '3909' at first 11, first 3909.12 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '2214' at first 15, first 2214.05 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '157' at first 16, first 157.408 center offset 0,0.5 front font ',13' tc rgb '#222222'
set label '748' at first 18, first 748.192 center offset 0,0.5 front font ',13' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7612
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_times_attention.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_times_attention.csv' skip 1 using ($0 * 5 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_times_attention.csv' skip 1 using ($0 * 5 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_times_attention.csv' skip 1 using ($0 * 5 + 3):(column(5)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
