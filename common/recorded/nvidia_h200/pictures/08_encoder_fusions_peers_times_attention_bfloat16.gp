# `gnuplot 08_encoder_fusions_peers_times_attention_bfloat16.gp` in this folder draws 08_encoder_fusions_peers_times_attention_bfloat16 from 08_encoder_fusions_peers_times_attention_bfloat16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_times_attention_bfloat16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: attention beside others, bfloat16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'time of one call' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x heads x queries x keys x size; median time of one call, which may be many kernels; caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30 (kernels), 5e628ac77fcb (encoders), 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7324,0.778 to screen 0.7484,0.806 fc rgb '#D55E00' fs solid noborder
set label '08, its fastest variant' at screen 0.7564,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.726 to screen 0.7484,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'torch_flash' at screen 0.7564,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.674 to screen 0.7484,0.702 fc rgb '#0072B2' fs solid noborder
set label 'torch_cudnn' at screen 0.7564,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.622 to screen 0.7484,0.65 fc rgb '#009E73' fs solid noborder
set label 'torch_efficient' at screen 0.7564,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.57 to screen 0.7484,0.598 fc rgb '#E69F00' fs solid noborder
set label 'torch_unfused' at screen 0.7564,0.582 left noenhanced tc rgb '#222222'
set xrange [-1:18 - 1]
set xtics ('32 x 12 x 384 x 384 x 64' 2, '8 x 16 x 2048 x 2048 x 64' 8, '4 x 16 x 8192 x 8192 x 128' 14) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set logscale y
set ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7)
set yrange [20:50000]
set label '68' at first 0, first 67.808 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '66' at first 1, first 65.568 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '48' at first 2, first 48.32 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '133' at first 3, first 132.576 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '246' at first 4, first 246.368 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '432' at first 6, first 432.224 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '474' at first 7, first 473.504 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '305' at first 8, first 305.408 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '1079' at first 9, first 1078.66 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '2275' at first 10, first 2274.62 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '6119' at first 12, first 6119.1 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '6149' at first 13, first 6148.99 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '3177' at first 14, first 3177.06 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '12k' at first 15, first 12362.4 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '25k' at first 16, first 25004.7 center offset 0,0.5 front font ',14' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_times_attention_bfloat16.csv' skip 1 using ($0 * 6 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_peers_times_attention_bfloat16.csv' skip 1 using ($0 * 6 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_peers_times_attention_bfloat16.csv' skip 1 using ($0 * 6 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_peers_times_attention_bfloat16.csv' skip 1 using ($0 * 6 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '08_encoder_fusions_peers_times_attention_bfloat16.csv' skip 1 using ($0 * 6 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle
unset output
finished = 1
