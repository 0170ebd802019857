# `gnuplot 08_encoder_fusions_traffic.gp` in this folder draws 08_encoder_fusions_traffic from 08_encoder_fusions_traffic.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_traffic.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions: bytes per element of x, asked for and moved' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'counted on the CPU device; DRAM: recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'bytes per element' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'asked for: what threads load and store (float16, 256 tokens, 1024 hidden); moved: 32 bytes for each sector that a warp''s request touches' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'DRAM: what of it left the caches, by the GPU''s own counters (NVIDIA H200, commit 9c4210cbc5c1, 2026-11-25)' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7426,0.778 to screen 0.7586,0.806 fc rgb '#D55E00' fs solid noborder
set label 'as the lesson declares' at screen 0.7666,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.726 to screen 0.7586,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'asked for, counted' at screen 0.7666,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.674 to screen 0.7586,0.702 fc rgb '#0072B2' fs pattern 4 noborder
set label 'moved, counted' at screen 0.7666,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.622 to screen 0.7586,0.65 fc rgb '#009E73' fs solid noborder
set label 'DRAM, 32768 x 1024' at screen 0.7666,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.55 to screen 0.7586,0.578 fc rgb '#CCCCCC' fs solid noborder
set label 'writes' at screen 0.7666,0.562 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.498 to screen 0.7586,0.526 fc rgb '#777777' fs solid noborder
set label 'reads' at screen 0.7666,0.51 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.446 to screen 0.7586,0.474 fc rgb '#777777' fs pattern 4 noborder
set label 'reads and writes' at screen 0.7666,0.458 left noenhanced tc rgb '#222222'
set xrange [-1:30 - 1]
set xtics ('unfused_bias'."\n".'activation' 1.5, 'bias'."\n".'activation' 6.5, 'unfused'."\n".'layernorm' 11.5, 'layernorm' 16.5, 'unfused'."\n".'prenorm' 21.5, 'prenorm' 26.5) noenhanced scale 0 font ',14'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:19.98]
set label '8.5' at first 0, first 8.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '8.5' at first 1, first 8.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '8.5' at first 2, first 8.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '6.5' at first 3, first 6.48589 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '4.5' at first 5, first 4.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '4.5' at first 6, first 4.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '4.5' at first 7, first 4.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '3.3' at first 8, first 3.27058 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 10, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 11, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 12, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 13, first 11.9097 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 15, first 12 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 16, first 12 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 17, first 12 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '5.5' at first 18, first 5.45049 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 20, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 21, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '18' at first 22, first 18.5 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '12' at first 23, first 12.0332 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '14' at first 25, first 14 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '14' at first 26, first 14 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '14' at first 27, first 14 center offset 0,0.5 front font ',11' tc rgb '#222222'
set label '7.3' at first 28, first 7.26125 center offset 0,0.5 front font ',11' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7306
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 0):((column(2)) + column(3)) with boxes fc rgb '#EEBF99' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 1):((column(4)) + column(5)) with boxes fc rgb '#EBC9DC' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 1):(column(4)) with boxes fc rgb '#CC79A7' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 2):(column(6)) with boxes fs pattern 4 fc rgb '#0072B2' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 3):((column(7)) + column(8)) with boxes fc rgb '#99D8C7' notitle, \
     '08_encoder_fusions_traffic.csv' skip 1 using ($0 * 5 + 3):(column(7)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
