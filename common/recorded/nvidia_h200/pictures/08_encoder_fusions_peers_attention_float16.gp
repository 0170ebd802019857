# `gnuplot 08_encoder_fusions_peers_attention_float16.gp` in this folder draws 08_encoder_fusions_peers_attention_float16 from 08_encoder_fusions_peers_attention_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_attention_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: attention beside others, float16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x heads x queries x keys x size; floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
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
set xtics ('32 x 12 x'."\n".'384 x 384'."\n".'x 64' 2, '8 x 16 x'."\n".'2048 x'."\n".'2048 x 64' 8, '4 x 16 x'."\n".'8192 x'."\n".'8192 x 128' 14) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:713.769]
set label '220' at first 0, first 219.682 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '225' at first 1, first 225.478 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '322' at first 2, first 322.18 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '110' at first 3, first 109.841 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '60' at first 4, first 59.8158 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '320' at first 6, first 320.353 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '293' at first 7, first 292.613 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '453' at first 8, first 452.96 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '129' at first 9, first 128.696 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '61' at first 10, first 60.7535 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '365' at first 12, first 364.503 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '362' at first 13, first 362.397 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '661' at first 14, first 660.898 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '179' at first 15, first 179.063 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '87' at first 16, first 86.9902 center offset 0,0.5 front font ',18' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_attention_float16.csv' skip 1 using ($0 * 6 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using ($0 * 6 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using ($0 * 6 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using ($0 * 6 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using ($0 * 6 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle
unset output
finished = 1
