# `gnuplot 08_encoder_fusions_kernels_encoder_unfused_float16.gp` in this folder draws 08_encoder_fusions_kernels_encoder_unfused_float16 from 08_encoder_fusions_kernels_encoder_unfused_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_kernels_encoder_unfused_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: the kernels of encoder_unfused, float16, 8x128x12x64' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'kernel, its share of the time, its µs' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'each kernel alone, by the GPU''s own clock, one behind the other as they were started; what lies between them is left out' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, commit 9c4210cbc5c1, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set xrange [0:131.217]
set yrange [11 - 0.4:-0.6]
set ytics ('mma_kernel, 0.16  18.3' 0, 'qkv_bias_transpose_kernel, 0.04  4.8' 1, 'mma_kernel, 0.05  5.41' 2, 'row_groups_kernel, 0.03  4.03' 3, 'mma_kernel, 0.05  5.44' 4, 'transpose_back_kernel, 0.03  3.39' 5, 'mma_kernel, 0.10  11' 6, 'layernorm_kernel, 0.04  4.06' 7, 'mma_kernel, 0.21  24.4' 8, 'mma_kernel, 0.27  30.8' 9, 'layernorm_kernel, 0.03  4.03' 10) noenhanced scale 0
set style fill solid noborder
unset grid
set grid xtics lc rgb '#dddddd' lw 1 lt 1
set xlabel 'µs' noenhanced offset 0,0.8
set lmargin at screen 0.3972
set rmargin at screen 0.96
set tmargin at screen 0.81
set bmargin at screen 0.225
begun = 0
plot '08_encoder_fusions_kernels_encoder_unfused_float16.csv' skip 1 using (begun):0:(begun):(begun = begun + column(2)):($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '#D55E00' notitle
unset output
finished = 1
