# `gnuplot 08_encoder_fusions_variants_float16.gp` in this folder draws 08_encoder_fusions_variants_float16 from 08_encoder_fusions_variants_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_variants_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: its variants, float16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.775 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; 8 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.033,0.835 point pt 9 ps large_point lc rgb '#8C510A'
set label 'unfused_bias_activation' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.3106,0.835 to screen 0.3366,0.835 nohead lw 3 lc rgb '#6B8E23'
set label '' at screen 0.3236,0.835 point pt 13 ps large_point lc rgb '#6B8E23'
set label 'bias_activation' at screen 0.3446,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.5196,0.835 to screen 0.5456,0.835 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.5536,0.835 left noenhanced tc rgb '#222222'
set logscale x
set xrange [0.833333:39321.6]
set xtics ('1' 1, '32' 32, '1024' 1024, '12288' 12288)
set xlabel 'tokens' noenhanced offset 0,0.8
set multiplot
set label '1024 hidden' at screen 0.29,0.775 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.745
set bmargin at screen 0.225
set yrange [0:4489.51]
plot '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(4)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset label
unset arrow
set label '768 hidden' at screen 0.79,0.775 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.745
set bmargin at screen 0.225
set yrange [0:4489.51]
plot '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '08_encoder_fusions_variants_float16.csv' skip 1 using 1:(column(7)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset multiplot
unset output
finished = 1
