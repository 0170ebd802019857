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
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30 (kernels), 5e628ac77fcb (encoders), 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7324,0.778 to screen 0.7484,0.806 fc rgb '#D55E00' fs solid noborder
set label '08, its fastest variant' at screen 0.7564,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.726 to screen 0.7484,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'transformers_eager' at screen 0.7564,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.674 to screen 0.7484,0.702 fc rgb '#0072B2' fs solid noborder
set label 'transformers_compile' at screen 0.7564,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.622 to screen 0.7484,0.65 fc rgb '#009E73' fs solid noborder
set label 'transformers_autotune' at screen 0.7564,0.634 left noenhanced tc rgb '#222222'
set xrange [-1:30 - 1]
set xtics ('1 x 32' 1.5, '1 x 128' 6.5, '8 x 128' 11.5, '32 x 128' 16.5, '32 x 384' 21.5, '8 x 512' 26.5) noenhanced scale 0
set boxwidth 0.86
set style fill solid noborder
set yrange [0:547.132]
set label '18' at first 0, first 18.0222 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '10' at first 1, first 10.0819 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '11' at first 2, first 11.3873 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '10' at first 3, first 10.3185 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '63' at first 5, first 62.7112 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '40' at first 6, first 39.625 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '45' at first 7, first 45.1336 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '34' at first 8, first 33.8168 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '310' at first 10, first 310.241 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '211' at first 11, first 211.142 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '233' at first 12, first 233.387 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '220' at first 13, first 220.179 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '474' at first 15, first 474.051 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '382' at first 16, first 381.919 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '418' at first 17, first 417.745 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '381' at first 18, first 381.086 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '507' at first 20, first 506.604 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '427' at first 21, first 426.697 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '477' at first 22, first 477.213 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '411' at first 23, first 410.942 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '465' at first 25, first 464.788 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '389' at first 26, first 389.175 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '424' at first 27, first 424.359 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '389' at first 28, first 388.549 center offset 0,0.5 front font ',11' tc rgb '#222222'
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
