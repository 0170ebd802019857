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
set label '06 softmax topk beside what one would use instead, input distinct, k = 5' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.723 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit e1b8e383e97c, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.033,0.835 point pt 5 ps large_point lc rgb '#D55E00'
set label '06 softmax topk, its fastest variant' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.4432,0.835 to screen 0.4692,0.835 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.4562,0.835 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'torch_eager' at screen 0.4772,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.6114,0.835 to screen 0.6374,0.835 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.6244,0.835 point pt 7 ps large_point lc rgb '#0072B2'
set label 'torch_compile' at screen 0.6454,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.033,0.783 point pt 13 ps large_point lc rgb '#009E73'
set label 'torch_best_first' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.2392,0.783 to screen 0.2652,0.783 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'read (roof)' at screen 0.2732,0.783 left noenhanced tc rgb '#222222'
set logscale x
set xrange [833.333:1200000]
set xtics ('1k' 1000, '4k' 4000, '25k' 25000, '128256' 128256, '1M' 1000000)
set xlabel 'columns' noenhanced offset 0,0.8
set multiplot
set label '4000 rows; the read goes on to 4525' at screen 0.3485,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:1199.33]
plot '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(6)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset label
unset arrow
set label '10 rows; the read goes on to 3133' at screen 0.79,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.693
set bmargin at screen 0.225
set yrange [0:201.24]
plot '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(9)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(10)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(11)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_peers_distinct.csv' skip 1 using 1:(column(7)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset multiplot
unset output
finished = 1
