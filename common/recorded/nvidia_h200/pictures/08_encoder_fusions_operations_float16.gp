# `gnuplot 08_encoder_fusions_operations_float16.gp` in this folder draws 08_encoder_fusions_operations_float16 from 08_encoder_fusions_operations_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_operations_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: each of its operations, float16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'share of the roof''s speed' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'roof: what copies, or adds up, as many bytes; each operation at the shape where it was measured first, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.8344,0.778 to screen 0.8504,0.806 fc rgb '#D55E00' fs solid noborder
set label 'first variant' at screen 0.8584,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.8344,0.726 to screen 0.8504,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'last variant' at screen 0.8584,0.738 left noenhanced tc rgb '#222222'
set xrange [-1:27 - 1]
set xtics ('add_bias'."\n".'activation' 0.5, 'add_bias'."\n".'residual'."\n".'layernorm' 3.5, 'add_bias'."\n".'residual'."\n".'prenorm' 6.5, 'add_qkv'."\n".'bias'."\n".'transpose' 9.5, 'transpose'."\n".'back' 12.5, 'remove'."\n".'padding' 15.5, 'rebuild'."\n".'padding' 18.5, 'masked'."\n".'softmax' 21.5, 'matrix'."\n".'transpose' 24.5) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:1.08055]
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.8224
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_operations_float16.csv' skip 1 using ($0 * 3 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_operations_float16.csv' skip 1 using ($0 * 3 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle
unset output
finished = 1
