# `gnuplot 06_softmax_topk_peers_distinct_k5_4000.gp` in this folder draws 06_softmax_topk_peers_distinct_k5_4000 from 06_softmax_topk_peers_distinct_k5_4000.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '06_softmax_topk_peers_distinct_k5_4000.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '06 softmax topk beside what one would use instead, input distinct, 4000 rows, k = 5' at screen 0.02,0.95 left noenhanced font ',23' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn; 3 more shapes are recorded' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 26b865fa8a6d, 2026-11-25' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.5818,0.766667 to screen 0.6078,0.766667 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'read (roof)' at screen 0.6158,0.766667 left noenhanced tc rgb '#222222'
set arrow from screen 0.5818,0.714667 to screen 0.6078,0.714667 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.5948,0.714667 point pt 5 ps large_point lc rgb '#D55E00'
set label '06 softmax topk, its fastest variant' at screen 0.6158,0.714667 left noenhanced tc rgb '#222222'
set arrow from screen 0.5818,0.540959 to screen 0.6078,0.540959 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.5948,0.540959 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'nvidia_online_softmax/online_topk' at screen 0.6158,0.540959 left noenhanced tc rgb '#222222'
set arrow from screen 0.5818,0.329 to screen 0.6078,0.329 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.5948,0.329 point pt 13 ps large_point lc rgb '#009E73'
set label 'torch_compile' at screen 0.6158,0.329 left noenhanced tc rgb '#222222'
set arrow from screen 0.5818,0.277 to screen 0.6078,0.277 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.5948,0.277 point pt 7 ps large_point lc rgb '#0072B2'
set label 'torch_eager' at screen 0.6158,0.277 left noenhanced tc rgb '#222222'
set arrow from screen 0.5818,0.225 to screen 0.6078,0.225 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.5948,0.225 point pt 11 ps large_point lc rgb '#E69F00'
set label 'torch_best_first' at screen 0.6158,0.225 left noenhanced tc rgb '#222222'
set logscale x
set xrange [20833.3:153907]
set xtics ('25k' 25000, '128256' 128256)
set xlabel 'columns' noenhanced offset 0,0.8
set label '' at screen 0.3344,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.5738
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:4855.15]
plot '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(7)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_peers_distinct_k5_4000.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset output
finished = 1
