# `gnuplot 06_softmax_topk_traffic.gp` in this folder draws 06_softmax_topk_traffic from 06_softmax_topk_traffic.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '06_softmax_topk_traffic.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '06 softmax topk: bytes per element of x, asked for and moved' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'counted on the CPU device; DRAM: recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'bytes per element' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'asked for: what threads load and store (float32, 256 rows, 1024 cols, k = 5); moved: 32 bytes for each sector that a warp''s request' at screen 0.02,0.086 left noenhanced font ',14' tc rgb '#777777'
set label 'touches' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'DRAM: what of it left the caches, by the GPU''s own counters (NVIDIA H200, commit 5e628ac77fcb, 2026-11-26)' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7426,0.778 to screen 0.7586,0.806 fc rgb '#D55E00' fs solid noborder
set label 'as the lesson declares' at screen 0.7666,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.726 to screen 0.7586,0.754 fc rgb '#CC79A7' fs solid noborder
set label 'asked for, counted' at screen 0.7666,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.674 to screen 0.7586,0.702 fc rgb '#0072B2' fs pattern 4 noborder
set label 'moved, counted' at screen 0.7666,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.622 to screen 0.7586,0.65 fc rgb '#009E73' fs solid noborder
set label 'DRAM, 4000 x 4000' at screen 0.7666,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.57 to screen 0.7586,0.598 fc rgb '#E69F00' fs solid noborder
set label 'DRAM, 4000 x 128256' at screen 0.7666,0.582 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.498 to screen 0.7586,0.526 fc rgb '#CCCCCC' fs solid noborder
set label 'writes' at screen 0.7666,0.51 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.446 to screen 0.7586,0.474 fc rgb '#777777' fs solid noborder
set label 'reads' at screen 0.7666,0.458 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.394 to screen 0.7586,0.422 fc rgb '#777777' fs pattern 4 noborder
set label 'reads and writes' at screen 0.7666,0.406 left noenhanced tc rgb '#222222'
set xrange [-1:24 - 1]
set xtics ('safe_unfused' 2, 'online_unfused' 8, 'safe_fused' 14, 'online_fused' 20) noenhanced scale 0
set boxwidth 0.86
set style fill solid noborder
set yrange [0:21.9375]
set label '20' at first 0, first 20.0391 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '20' at first 1, first 20.0391 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '20' at first 2, first 20.3125 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '11' at first 3, first 10.824 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '20' at first 4, first 19.9677 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '16' at first 6, first 16.0391 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '16' at first 7, first 16.0391 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '16' at first 8, first 16.3125 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '11' at first 9, first 10.9152 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '16' at first 10, first 15.968 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '8' at first 12, first 8.03906 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '8' at first 13, first 8.03906 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '8.3' at first 14, first 8.3125 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4.2' at first 15, first 4.1535 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '8' at first 16, first 8.00528 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4' at first 18, first 4.03906 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4' at first 19, first 4.03906 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4.3' at first 20, first 4.3125 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4.1' at first 21, first 4.14939 center offset 0,0.5 front font ',14' tc rgb '#222222'
set label '4' at first 22, first 4.00531 center offset 0,0.5 front font ',14' tc rgb '#222222'
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.095
set rmargin at screen 0.7306
set tmargin at screen 0.81
set bmargin at screen 0.229
plot '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 0):((column(2)) + column(3)) with boxes fc rgb '#EEBF99' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 1):((column(4)) + column(5)) with boxes fc rgb '#EBC9DC' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 1):(column(4)) with boxes fc rgb '#CC79A7' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 2):(column(6)) with boxes fs pattern 4 fc rgb '#0072B2' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 3):((column(7)) + column(8)) with boxes fc rgb '#99D8C7' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 3):(column(7)) with boxes fc rgb '#009E73' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 4):((column(9)) + column(10)) with boxes fc rgb '#F5D999' notitle, \
     '06_softmax_topk_traffic.csv' skip 1 using ($0 * 6 + 4):(column(9)) with boxes fc rgb '#E69F00' notitle
unset output
finished = 1
