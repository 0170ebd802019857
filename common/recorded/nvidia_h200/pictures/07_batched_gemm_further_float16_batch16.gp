# `gnuplot 07_batched_gemm_further_float16_batch16.gp` in this folder draws 07_batched_gemm_further_float16_batch16 from 07_batched_gemm_further_float16_batch16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_further_float16_batch16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm: beyond the lesson, float16, 16 batch' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed; 2 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 66e137583e73, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.7654,0.742305 to screen 0.7914,0.742305 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'roof' at screen 0.7994,0.742305 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.534101 to screen 0.7914,0.534101 nohead lw 3 lc rgb '#B2182B'
set label '' at screen 0.7784,0.534101 point pt 15 ps large_point lc rgb '#B2182B'
set label 'mma_half_sums' at screen 0.7994,0.534101 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.482101 to screen 0.7914,0.482101 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.7784,0.482101 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'mma' at screen 0.7994,0.482101 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.389595 to screen 0.7914,0.389595 nohead lw 3 lc rgb '#6B8E23'
set label '' at screen 0.7784,0.389595 point pt 13 ps large_point lc rgb '#6B8E23'
set label 'split_k' at screen 0.7994,0.389595 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.337595 to screen 0.7914,0.337595 nohead lw 3 lc rgb '#777777'
set label '' at screen 0.7784,0.337595 point pt 6 ps large_point lc rgb '#777777'
set label 'best of the lesson' at screen 0.7994,0.337595 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.284124 to screen 0.7914,0.284124 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.7784,0.284124 point pt 9 ps large_point lc rgb '#8C510A'
set label 'mma_unswizzled' at screen 0.7994,0.284124 left noenhanced tc rgb '#222222'
set logscale x
set xrange [106.667:4915.2]
set xtics ('128' 128, '256' 256, '512' 512, '1024' 1024, '2048' 2048, '4096' 4096)
set xlabel 'm = n = k' noenhanced offset 0,0.8
set label '' at screen 0.4262,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.7574
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:815.285]
plot '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#777777' ps large_point pt 6 notitle, \
     '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#B2182B' ps large_point pt 15 notitle, \
     '07_batched_gemm_further_float16_batch16.csv' skip 1 using 1:(column(7)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
