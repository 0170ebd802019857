# `gnuplot 07_batched_gemm_variants_batch384_k64_transpose_b1.gp` in this folder draws 07_batched_gemm_variants_batch384_k64_transpose_b1 from 07_batched_gemm_variants_batch384_k64_transpose_b1.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_variants_batch384_k64_transpose_b1.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm: its variants, 384 batch, k = 64, transpose_b' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed; 2 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 66e137583e73, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.8062,0.766667 to screen 0.8322,0.766667 nohead lw 3 lc rgb '#6B8E23'
set label '' at screen 0.8192,0.766667 point pt 13 ps large_point lc rgb '#6B8E23'
set label 'register_tiled' at screen 0.8402,0.766667 left noenhanced tc rgb '#222222'
set arrow from screen 0.8062,0.714667 to screen 0.8322,0.714667 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'roof' at screen 0.8402,0.714667 left noenhanced tc rgb '#222222'
set arrow from screen 0.8062,0.310081 to screen 0.8322,0.310081 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.8192,0.310081 point pt 9 ps large_point lc rgb '#8C510A'
set label 'tiled' at screen 0.8402,0.310081 left noenhanced tc rgb '#222222'
set arrow from screen 0.8062,0.233041 to screen 0.8322,0.233041 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.8192,0.233041 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'naive' at screen 0.8402,0.233041 left noenhanced tc rgb '#222222'
set logscale x
set xrange [106.667:1228.8]
set xtics ('128' 128, '256' 256, '512' 512, '1024' 1024)
set xlabel 'm = n' noenhanced offset 0,0.8
set label '' at screen 0.4466,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.7982
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:36.2471]
plot '07_batched_gemm_variants_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '07_batched_gemm_variants_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '07_batched_gemm_variants_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '07_batched_gemm_variants_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(5)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
