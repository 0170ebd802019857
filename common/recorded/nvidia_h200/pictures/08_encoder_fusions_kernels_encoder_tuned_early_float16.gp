# `gnuplot 08_encoder_fusions_kernels_encoder_tuned_early_float16.gp` in this folder draws 08_encoder_fusions_kernels_encoder_tuned_early_float16 from 08_encoder_fusions_kernels_encoder_tuned_early_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_kernels_encoder_tuned_early_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: the kernels of encoder_tuned_early, float16, 8x128x12x64' at screen 0.02,0.95 left noenhanced font ',25' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'kernel, its share of the time, its µs' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'each kernel alone, by the GPU''s own clock, one behind the other as they were started; what lies between them is left out' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set xrange [0:97.8687]
set yrange [7 - 0.4:-0.6]
set ytics ('nvjet_sm90_hsh_176x128_64x, 0.13  10.9' 0, 'attention_mma_kernel, 0.09  7.78' 1, 'nvjet_sm90_hsh_128x64_64x8, 0.08  6.5' 2, 'layernorm_kernel, 0.05  4.7' 3, 'split_k_kernel, 0.44  37.7' 4, 'nvjet_sm90_hsh_64x96_64x10, 0.16  13.8' 5, 'layernorm_kernel, 0.06  4.86' 6) noenhanced scale 0
set style fill solid noborder
unset grid
set grid xtics lc rgb '#dddddd' lw 1 lt 1
set xlabel 'µs' noenhanced offset 0,0.8
set lmargin at screen 0.4176
set rmargin at screen 0.96
set tmargin at screen 0.81
set bmargin at screen 0.225
begun = 0
plot '08_encoder_fusions_kernels_encoder_tuned_early_float16.csv' skip 1 using (begun):0:(begun):(begun = begun + column(2)):($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '#D55E00' notitle
unset output
finished = 1
