# `gnuplot 08_encoder_fusions_peers_encoder_float16.gp` in this folder draws 08_encoder_fusions_peers_encoder_float16 from 08_encoder_fusions_peers_encoder_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_encoder_float16.svg'
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
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x seq; floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7324,0.778 to screen 0.7484,0.806 fc rgb '#D55E00' fs solid noborder
set label '08, its fastest variant' at screen 0.7564,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.726 to screen 0.7484,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'transformers_eager' at screen 0.7564,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.674 to screen 0.7484,0.702 fc rgb '#0072B2' fs solid noborder
set label 'transformers_compile' at screen 0.7564,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.622 to screen 0.7484,0.65 fc rgb '#009E73' fs solid noborder
set label 'transformers_autotune' at screen 0.7564,0.634 left noenhanced tc rgb '#222222'
set xrange [-1:30 - 1]
set xtics ('1 x 128' 1.5, '8 x 128' 6.5, '32 x 128' 11.5, '8 x 512' 16.5, '32 x 384' 21.5, '1 x 32' 26.5) noenhanced scale 0
set boxwidth 0.86
set style fill solid noborder
set yrange [0:538.629]
set label '51' at first 0, first 50.6382 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '40' at first 1, first 39.5779 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '45' at first 2, first 44.8178 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '39' at first 3, first 39.2398 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '283' at first 5, first 282.819 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '211' at first 6, first 211.413 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '237' at first 7, first 236.8 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '178' at first 8, first 177.862 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '453' at first 10, first 453.365 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '370' at first 11, first 369.841 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '406' at first 12, first 405.974 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '375' at first 13, first 375.452 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '445' at first 15, first 445.429 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '378' at first 16, first 377.54 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '413' at first 17, first 412.9 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '382' at first 18, first 382.296 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '499' at first 20, first 498.731 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '425' at first 21, first 425.105 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '479' at first 22, first 478.813 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '426' at first 23, first 426.069 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '13' at first 25, first 12.8531 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '10' at first 26, first 10.1567 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 27, first 11.5589 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '9.8' at first 28, first 9.78261 center offset 0,0.5 front font ',11' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_encoder_float16.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_peers_encoder_float16.csv' skip 1 using ($0 * 5 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_peers_encoder_float16.csv' skip 1 using ($0 * 5 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_peers_encoder_float16.csv' skip 1 using ($0 * 5 + 3):(column(5)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
