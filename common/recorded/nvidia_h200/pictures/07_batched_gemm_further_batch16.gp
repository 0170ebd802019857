# `gnuplot 07_batched_gemm_further_batch16.gp` in this folder draws 07_batched_gemm_further_batch16 from 07_batched_gemm_further_batch16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_further_batch16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm: beyond the lesson, 16 batch' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'floating-point operations over the median time, caches flushed; 2 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 66e137583e73, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.7654,0.750186 to screen 0.7914,0.750186 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'roof' at screen 0.7994,0.750186 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.51125 to screen 0.7914,0.51125 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.7784,0.51125 point pt 9 ps large_point lc rgb '#8C510A'
set label 'mma_tf32' at screen 0.7994,0.51125 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.286729 to screen 0.7914,0.286729 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.7784,0.286729 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'double_buffered' at screen 0.7994,0.286729 left noenhanced tc rgb '#222222'
set arrow from screen 0.7654,0.234729 to screen 0.7914,0.234729 nohead lw 3 lc rgb '#777777'
set label '' at screen 0.7784,0.234729 point pt 6 ps large_point lc rgb '#777777'
set label 'best of the lesson' at screen 0.7994,0.234729 left noenhanced tc rgb '#222222'
set logscale x
set xrange [106.667:4915.2]
set xtics ('128' 128, '256' 256, '512' 512, '1024' 1024, '2048' 2048, '4096' 4096)
set xlabel 'm = n = k' noenhanced offset 0,0.8
set label '' at screen 0.4262,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.7574
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:389.403]
plot '07_batched_gemm_further_batch16.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#777777' ps large_point pt 6 notitle, \
     '07_batched_gemm_further_batch16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '07_batched_gemm_further_batch16.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '07_batched_gemm_further_batch16.csv' skip 1 using 1:(column(5)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
