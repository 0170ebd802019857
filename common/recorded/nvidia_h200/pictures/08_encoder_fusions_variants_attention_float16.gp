# `gnuplot 08_encoder_fusions_variants_attention_float16.gp` in this folder draws 08_encoder_fusions_variants_attention_float16 from 08_encoder_fusions_variants_attention_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_variants_attention_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: attention, float16, batch x queries = 16384' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.723 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 3 lc rgb '#B2182B'
set label '' at screen 0.033,0.835 point pt 15 ps large_point lc rgb '#B2182B'
set label 'attention_mma' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.2086,0.835 to screen 0.2346,0.835 nohead lw 3 dt (6,4) lc rgb '#B2182B'
set label '' at screen 0.2216,0.835 point pt 14 ps large_point lc rgb '#B2182B'
set label 'attention_mma, causal' at screen 0.2426,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.4788,0.835 to screen 0.5048,0.835 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.4918,0.835 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'attention_mma_few' at screen 0.5128,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 3 dt (6,4) lc rgb '#CC79A7'
set label '' at screen 0.033,0.783 point pt 8 ps large_point lc rgb '#CC79A7'
set label 'attention_mma_few, causal' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set logscale x
set xrange [106.667:19660.8]
set xtics ('128' 128, '512' 512, '2048' 2048, '8192' 8192)
set xlabel 'queries = keys' noenhanced offset 0,0.8
set multiplot
set label '16 heads, size 128' at screen 0.29,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:391.279]
plot '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#B2182B' ps large_point pt 15 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 dt (6,4) lc rgb '#B2182B' ps large_point pt 14 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(5)) with linespoints lw 3 dt (6,4) lc rgb '#CC79A7' ps large_point pt 8 notitle
unset label
unset arrow
set label '32 heads, size 64' at screen 0.79,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:391.279]
plot '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#B2182B' ps large_point pt 15 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(7)) with linespoints lw 3 dt (6,4) lc rgb '#B2182B' ps large_point pt 14 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '08_encoder_fusions_variants_attention_float16.csv' skip 1 using 1:(column(9)) with linespoints lw 3 dt (6,4) lc rgb '#CC79A7' ps large_point pt 8 notitle
unset multiplot
unset output
finished = 1
