# `gnuplot 08_encoder_fusions_kernels_encoder_early_float16.gp` in this folder draws 08_encoder_fusions_kernels_encoder_early_float16 from 08_encoder_fusions_kernels_encoder_early_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_kernels_encoder_early_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: the kernels of encoder_early, float16, 8x128x12x64' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'kernel, its share of the time, its µs' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'each kernel alone, by the GPU''s own clock, one behind the other as they were started; what lies between them is left out' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set xrange [0:124.323]
set yrange [7 - 0.4:-0.6]
set ytics ('split_k_kernel, 0.23  25.6' 0, 'attention_mma_kernel, 0.07  8.13' 1, 'split_k_kernel, 0.10  11.3' 2, 'layernorm_kernel, 0.04  4.7' 3, 'split_k_kernel, 0.28  30.9' 4, 'split_k_kernel, 0.21  23.4' 5, 'layernorm_kernel, 0.05  5.6' 6) noenhanced scale 0
set style fill solid noborder
unset grid
set grid xtics lc rgb '#dddddd' lw 1 lt 1
set xlabel 'µs' noenhanced offset 0,0.8
set lmargin at screen 0.3564
set rmargin at screen 0.96
set tmargin at screen 0.81
set bmargin at screen 0.225
begun = 0
plot '08_encoder_fusions_kernels_encoder_early_float16.csv' skip 1 using (begun):0:(begun):(begun = begun + column(2)):($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '#D55E00' notitle
unset output
finished = 1
