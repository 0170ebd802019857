# `gnuplot 07_batched_gemm_peers.gp` in this folder draws 07_batched_gemm_peers from 07_batched_gemm_peers.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '07_batched_gemm_peers.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '07 batched gemm beside what one would use instead' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x m x n x k; floating-point operations over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 66e137583e73, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7222,0.778 to screen 0.7382,0.806 fc rgb '#D55E00' fs solid noborder
set label '07, its fastest variant' at screen 0.7462,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.726 to screen 0.7382,0.754 fc rgb '#CC79A7' fs solid noborder
set label '07, best of the lesson' at screen 0.7462,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.674 to screen 0.7382,0.702 fc rgb '#0072B2' fs solid noborder
set label 'cublas/default_tensor_op' at screen 0.7462,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.622 to screen 0.7382,0.65 fc rgb '#009E73' fs solid noborder
set label 'cublas_lt, its fastest' at screen 0.7462,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.57 to screen 0.7382,0.598 fc rgb '#E69F00' fs solid noborder
set label 'torch_matmul' at screen 0.7462,0.582 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.518 to screen 0.7382,0.546 fc rgb '#56B4E9' fs solid noborder
set label 'triton_gemm' at screen 0.7462,0.53 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7222,0.466 to screen 0.7382,0.494 fc rgb '#7F3C8D' fs solid noborder
set label 'roof' at screen 0.7462,0.478 left noenhanced tc rgb '#222222'
set xrange [-1:24 - 1]
set xtics ('16 x 512 x 512 x 512' 3, '16 x 2048 x 2048 x 2048' 11, '1 x 4096 x 4096 x 4096' 19) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:56.6573]
set label '37' at first 0, first 37.2207 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '36' at first 1, first 36.492 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '46' at first 2, first 46.2979 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '46' at first 3, first 46.282 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '46' at first 4, first 46.1071 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '39' at first 5, first 38.8699 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '46' at first 6, first 46.1071 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '41' at first 8, first 40.9345 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '41' at first 9, first 40.8753 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '50' at first 10, first 50.4676 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '52' at first 11, first 52.4317 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '50' at first 12, first 50.38 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '46' at first 13, first 45.5376 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '52' at first 14, first 52.4605 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '41' at first 16, first 40.6763 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '39' at first 17, first 39.3824 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '51' at first 18, first 51.2037 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '51' at first 19, first 51.2086 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '51' at first 20, first 51.0777 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '44' at first 21, first 44.0844 center offset 0,0.5 front font ',18' tc rgb '#222222'
set label '51' at first 22, first 51.1744 center offset 0,0.5 front font ',18' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7102
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 5):(column(7)) with boxes fc rgb '#56B4E9' notitle, \
     '07_batched_gemm_peers.csv' skip 1 using ($0 * 8 + 6):(column(8)) with boxes fc rgb '#7F3C8D' notitle
unset output
finished = 1
