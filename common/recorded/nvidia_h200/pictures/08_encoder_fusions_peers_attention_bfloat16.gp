# `gnuplot 08_encoder_fusions_peers_attention_bfloat16.gp` in this folder draws 08_encoder_fusions_peers_attention_bfloat16 from 08_encoder_fusions_peers_attention_bfloat16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_attention_bfloat16.svg'
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
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x heads x queries x keys x size; floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
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
set yrange [0:747.53]
set label '214' at first 0, first 213.773 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '221' at first 1, first 221.076 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '300' at first 2, first 299.99 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '109' at first 3, first 109.337 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '59' at first 4, first 58.8368 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '318' at first 6, first 317.981 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '290' at first 7, first 290.259 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '450' at first 8, first 450.018 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '127' at first 9, first 127.417 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '60' at first 10, first 60.4227 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '359' at first 12, first 359.37 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '358' at first 13, first 357.623 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '692' at first 14, first 692.158 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '178' at first 15, first 177.88 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '88' at first 16, first 87.9444 center offset 0,0.5 front font ',18' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_attention_bfloat16.csv' skip 1 using ($0 * 6 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_peers_attention_bfloat16.csv' skip 1 using ($0 * 6 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_peers_attention_bfloat16.csv' skip 1 using ($0 * 6 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_peers_attention_bfloat16.csv' skip 1 using ($0 * 6 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '08_encoder_fusions_peers_attention_bfloat16.csv' skip 1 using ($0 * 6 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle
unset output
finished = 1
