# `gnuplot 07_batched_gemm_peers_float16.gp` in this folder draws 07_batched_gemm_peers_float16 from 07_batched_gemm_peers_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_peers_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm beside what one would use instead, float16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x m x n x k; floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7324,0.778 to screen 0.7484,0.806 fc rgb '#D55E00' fs solid noborder
set label '07, its fastest variant' at screen 0.7564,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.726 to screen 0.7484,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'cublas, its fastest' at screen 0.7564,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.674 to screen 0.7484,0.702 fc rgb '#0072B2' fs solid noborder
set label 'cublas/default' at screen 0.7564,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.622 to screen 0.7484,0.65 fc rgb '#009E73' fs solid noborder
set label 'cublas_lt, its fastest' at screen 0.7564,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.57 to screen 0.7484,0.598 fc rgb '#E69F00' fs solid noborder
set label 'cutlass/128x128' at screen 0.7564,0.582 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.518 to screen 0.7484,0.546 fc rgb '#56B4E9' fs solid noborder
set label 'torch_matmul' at screen 0.7564,0.53 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.466 to screen 0.7484,0.494 fc rgb '#7F3C8D' fs solid noborder
set label 'triton_gemm' at screen 0.7564,0.478 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7324,0.414 to screen 0.7484,0.442 fc rgb '#8C510A' fs solid noborder
set label 'roof' at screen 0.7564,0.426 left noenhanced tc rgb '#222222'
set xrange [-1:45 - 1]
set xtics ('16 x 512 x 512 x'."\n".'512' 3.5, '16 x 2048 x 2048'."\n".'x 2048' 12.5, '384 x 512 x 512'."\n".'x 64, transpose'."\n".'b' 21.5, '384 x 512 x 64 x'."\n".'512' 30.5, '1 x 4096 x 4096'."\n".'x 4096' 39.5) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:805.306]
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7204
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 5):(column(7)) with boxes fc rgb '#56B4E9' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 6):(column(8)) with boxes fc rgb '#7F3C8D' notitle, \
     '07_batched_gemm_peers_float16.csv' skip 1 using ($0 * 9 + 7):(column(9)) with boxes fc rgb '#8C510A' notitle
unset output
finished = 1
