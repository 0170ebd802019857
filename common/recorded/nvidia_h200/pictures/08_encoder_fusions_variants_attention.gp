# `gnuplot 08_encoder_fusions_variants_attention.gp` in this folder draws 08_encoder_fusions_variants_attention from 08_encoder_fusions_variants_attention.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_variants_attention.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: attention' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'TFLOP/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'shapes: batch x heads x queries x keys x size; floating-point operations over the median time, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5e628ac77fcb, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7732,0.778 to screen 0.7892,0.806 fc rgb '#D55E00' fs solid noborder
set label 'query_per_block' at screen 0.7972,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.726 to screen 0.7892,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'attention' at screen 0.7972,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.674 to screen 0.7892,0.702 fc rgb '#0072B2' fs solid noborder
set label 'query_per_block_sum' at screen 0.7972,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7732,0.622 to screen 0.7892,0.65 fc rgb '#009E73' fs solid noborder
set label 'shared_query' at screen 0.7972,0.634 left noenhanced tc rgb '#222222'
set xrange [-1:20 - 1]
set xtics ('32 x 12 x 384 x 384 x'."\n".'64' 1.5, '128 x 32 x 128 x 128 x'."\n".'64' 6.5, '128 x 16 x 128 x 128 x'."\n".'128' 11.5, '1 x 16 x 1 x 16384 x'."\n".'128' 16.5) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:4.74807]
set label '2.9' at first 0, first 2.92681 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '2.9' at first 1, first 2.92637 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '2.9' at first 2, first 2.9202 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '2.6' at first 5, first 2.64483 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '2.6' at first 6, first 2.64613 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '4.4' at first 10, first 4.39637 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '4.4' at first 11, first 4.39482 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '0.061' at first 15, first 0.060621 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '0.85' at first 16, first 0.852674 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '0.18' at first 18, first 0.179389 center offset 0,0.5 front font ',11' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7612
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_variants_attention.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_variants_attention.csv' skip 1 using ($0 * 5 + 1):(column(3)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_variants_attention.csv' skip 1 using ($0 * 5 + 2):(column(4)) with boxes fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_variants_attention.csv' skip 1 using ($0 * 5 + 3):(column(5)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
