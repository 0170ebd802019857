# `gnuplot 08_encoder_fusions_variants_encoder_float16.gp` in this folder draws 08_encoder_fusions_variants_encoder_float16 from 08_encoder_fusions_variants_encoder_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_variants_encoder_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: encoder, float16, 12 heads, 64 size per head, 12 layers' at screen 0.02,0.95 left noenhanced font ',25' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x seq; floating-point operations over the median time, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7426,0.778 to screen 0.7586,0.806 fc rgb '#D55E00' fs solid noborder
set label 'encoder_unfused' at screen 0.7666,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.726 to screen 0.7586,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'encoder_unfused_packed' at screen 0.7666,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.674 to screen 0.7586,0.702 fc rgb '#0072B2' fs solid noborder
set label 'encoder_split_qkv' at screen 0.7666,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.622 to screen 0.7586,0.65 fc rgb '#009E73' fs solid noborder
set label 'encoder_padded' at screen 0.7666,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.57 to screen 0.7586,0.598 fc rgb '#E69F00' fs solid noborder
set label 'encoder_packed' at screen 0.7666,0.582 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.518 to screen 0.7586,0.546 fc rgb '#56B4E9' fs solid noborder
set label 'encoder_early' at screen 0.7666,0.53 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.466 to screen 0.7586,0.494 fc rgb '#7F3C8D' fs solid noborder
set label 'encoder_tuned' at screen 0.7666,0.478 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.414 to screen 0.7586,0.442 fc rgb '#8C510A' fs solid noborder
set label 'encoder_tuned_early' at screen 0.7666,0.426 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.362 to screen 0.7586,0.39 fc rgb '#6B8E23' fs solid noborder
set label 'encoder_tuned_packed' at screen 0.7666,0.374 left noenhanced tc rgb '#222222'
set xrange [-1:70 - 1]
set xtics ('1 x 32' 4, '1 x 128' 14, '8 x 128' 24, '32 x 128' 34, '32 x 384' 44, '8 x 512' 54, '32 x 384,'."\n".'6144 tokens' 64) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:531.432]
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7306
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 3):(column(5)) with boxes fc rgb '#009E73' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 4):(column(6)) with boxes fc rgb '#E69F00' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 5):(column(7)) with boxes fc rgb '#56B4E9' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 6):(column(8)) with boxes fc rgb '#7F3C8D' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 7):(column(9)) with boxes fc rgb '#8C510A' notitle, \
     '08_encoder_fusions_variants_encoder_float16.csv' skip 1 using ($0 * 10 + 8):(column(10)) with boxes fc rgb '#6B8E23' notitle
unset output
finished = 1
