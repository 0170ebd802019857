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
set label '08 encoder fusions: attention beside others, float16, batch x queries = 16384' at screen 0.02,0.95 left noenhanced font ',24' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.723 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30 (kernels), 5e628ac77fcb (encoders), 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.033,0.835 point pt 5 ps large_point lc rgb '#D55E00'
set label '08, its fastest variant' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.3106,0.835 to screen 0.3366,0.835 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.3236,0.835 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'torch_flash' at screen 0.3446,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.4788,0.835 to screen 0.5048,0.835 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.4918,0.835 point pt 7 ps large_point lc rgb '#0072B2'
set label 'torch_cudnn' at screen 0.5128,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.647,0.835 to screen 0.673,0.835 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.66,0.835 point pt 13 ps large_point lc rgb '#009E73'
set label 'torch_efficient' at screen 0.681,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.033,0.783 point pt 11 ps large_point lc rgb '#E69F00'
set label 'torch_unfused' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set logscale x
set xrange [426.667:19660.8]
set xtics ('512' 512, '2048' 2048, '8192' 8192, '16384' 16384)
set xlabel 'queries = keys' noenhanced offset 0,0.8
set multiplot
set label '16 heads, size 128' at screen 0.29,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:715.324]
plot '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset label
unset arrow
set label '32 heads, size 64' at screen 0.79,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:715.324]
plot '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(9)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(10)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(11)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '08_encoder_fusions_peers_attention_float16.csv' skip 1 using 1:(column(7)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset multiplot
unset output
finished = 1
