# `gnuplot 06_softmax_topk_peers_distinct.gp` in this folder draws 06_softmax_topk_peers_distinct from 06_softmax_topk_peers_distinct.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '06_softmax_topk_peers_distinct.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '06 softmax topk beside what one would use instead, input distinct, 4000 rows' at screen 0.02,0.95 left noenhanced font ',25' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.671 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn; 8 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5babffc1eeab, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.033,0.835 point pt 5 ps large_point lc rgb '#D55E00'
set label '06 softmax topk, its fastest variant' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.4432,0.835 to screen 0.4692,0.835 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.4562,0.835 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'nvidia_online_softmax/safe_topk' at screen 0.4772,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.8154,0.835 to screen 0.8414,0.835 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.8284,0.835 point pt 7 ps large_point lc rgb '#0072B2'
set label 'torch_eager' at screen 0.8494,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.033,0.783 point pt 13 ps large_point lc rgb '#009E73'
set label 'torch_compile' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.2086,0.783 to screen 0.2346,0.783 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.2216,0.783 point pt 11 ps large_point lc rgb '#E69F00'
set label 'torch_best_first' at screen 0.2426,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.4278,0.783 to screen 0.4538,0.783 nohead lw 2 dt (1,2) lc rgb '#56B4E9'
set label '' at screen 0.4408,0.783 point pt 15 ps large_point lc rgb '#56B4E9'
set label 'cub_segmented_sort: selection alone' at screen 0.4618,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.731 to screen 0.046,0.731 nohead lw 2 dt (1,2) lc rgb '#7F3C8D'
set label '' at screen 0.033,0.731 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'row_sum: row sum alone' at screen 0.054,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.3004,0.731 to screen 0.3264,0.731 nohead lw 2 dt (1,2) lc rgb '#8C510A'
set label '' at screen 0.3134,0.731 point pt 9 ps large_point lc rgb '#8C510A'
set label 'torch_topk: selection alone' at screen 0.3344,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.6318,0.731 to screen 0.6578,0.731 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'read (roof)' at screen 0.6658,0.731 left noenhanced tc rgb '#222222'
set logscale x
set xrange [4.16667:1200]
set xtics ('5' 5, '32' 32, '256' 256, '1k' 1000)
set xlabel 'k' noenhanced offset 0,0.8
set multiplot
set label '128256 cols' at screen 0.29,0.671 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.641
set bmargin at screen 0.225
set yrange [0:4894.92]
plot '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(7)) with linespoints lw 2 dt (1,2) lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(8)) with linespoints lw 2 dt (1,2) lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(9)) with linespoints lw 2 dt (1,2) lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(10)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset label
unset arrow
set label '25000 cols' at screen 0.79,0.671 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.641
set bmargin at screen 0.225
set yrange [0:4894.92]
plot '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(12)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(13)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(14)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(15)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(16)) with linespoints lw 2 dt (1,2) lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(17)) with linespoints lw 2 dt (1,2) lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(18)) with linespoints lw 2 dt (1,2) lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(19)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(11)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset multiplot
unset output
finished = 1
