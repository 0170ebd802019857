# `gnuplot 07_batched_gemm_peers_float16_batch384_k64_transpose_b1.gp` in this folder draws 07_batched_gemm_peers_float16_batch384_k64_transpose_b1 from 07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm beside what one would use instead, float16, 384 batch, k = 64, transpose_b' at screen 0.02,0.95 left noenhanced font ',21' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed; timed in turn; 1 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 66e137583e73, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.7144,0.766667 to screen 0.7404,0.766667 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.7274,0.766667 point pt 11 ps large_point lc rgb '#E69F00'
set label 'cublas_lt, its fastest' at screen 0.7484,0.766667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.714667 to screen 0.7404,0.714667 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'roof' at screen 0.7484,0.714667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.662667 to screen 0.7404,0.662667 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.7274,0.662667 point pt 7 ps large_point lc rgb '#0072B2'
set label 'cublas, its fastest' at screen 0.7484,0.662667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.610667 to screen 0.7404,0.610667 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.7274,0.610667 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'torch_matmul' at screen 0.7484,0.610667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.558667 to screen 0.7404,0.558667 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.7274,0.558667 point pt 13 ps large_point lc rgb '#009E73'
set label 'cublas/default' at screen 0.7484,0.558667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.506667 to screen 0.7404,0.506667 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.7274,0.506667 point pt 5 ps large_point lc rgb '#D55E00'
set label '07, its fastest variant' at screen 0.7484,0.506667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.454667 to screen 0.7404,0.454667 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.7274,0.454667 point pt 9 ps large_point lc rgb '#8C510A'
set label 'triton_gemm' at screen 0.7484,0.454667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.402667 to screen 0.7404,0.402667 nohead lw 3 lc rgb '#56B4E9'
set label '' at screen 0.7274,0.402667 point pt 15 ps large_point lc rgb '#56B4E9'
set label 'cutlass/128x128' at screen 0.7484,0.402667 left noenhanced tc rgb '#222222'
set arrow from screen 0.7144,0.350667 to screen 0.7404,0.350667 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.7274,0.350667 point pt 9 ps large_point lc rgb '#CC79A7'
set label '07, best of the lesson' at screen 0.7484,0.350667 left noenhanced tc rgb '#222222'
set logscale x
set xrange [106.667:1228.8]
set xtics ('128' 128, '256' 256, '512' 512, '1024' 1024)
set xlabel 'm = n' noenhanced offset 0,0.8
set label '' at screen 0.4007,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.7064
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:222.267]
plot '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(7)) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(9)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(10)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '07_batched_gemm_peers_float16_batch384_k64_transpose_b1.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset output
finished = 1
