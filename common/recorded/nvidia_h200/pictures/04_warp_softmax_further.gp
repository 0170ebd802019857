# `gnuplot 04_warp_softmax_further.gp` in this folder draws 04_warp_softmax_further from 04_warp_softmax_further.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '04_warp_softmax_further.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '04 warp: beyond the lesson' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.775 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed' at screen 0.02,0.086 left noenhanced font ',14' tc rgb '#777777'
set label 'lines join the widths 63, 126, 252, ... of the paper; small points: round widths such as 100, where a kernel may be faster or slower' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit d5551bd92cd9, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 3 lc rgb '#777777'
set label '' at screen 0.033,0.835 point pt 6 ps large_point lc rgb '#777777'
set label 'best of the lesson' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.2596,0.835 to screen 0.2856,0.835 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.2726,0.835 point pt 13 ps large_point lc rgb '#009E73'
set label 'row_groups' at screen 0.2936,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.4176,0.835 to screen 0.4436,0.835 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.4306,0.835 point pt 11 ps large_point lc rgb '#E69F00'
set label 'softmax_any_width' at screen 0.4516,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.647,0.835 to screen 0.673,0.835 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.681,0.835 left noenhanced tc rgb '#222222'
set logscale x
set xrange [8.33333:2419.2]
set xtics ('10' 10, '63' 63, '252' 252, '1008' 1008)
set xlabel 'columns' noenhanced offset 0,0.8
set multiplot
set label '4000 rows' at screen 0.29,0.775 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.745
set bmargin at screen 0.229
set yrange [0:4046.99]
beside = ' 100 1000 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(2))) with linespoints lw 3 lc rgb '#777777' ps large_point pt 6 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(2))) with points ps small_point pt 6 lc rgb '#777777' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(3))) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(3))) with points ps small_point pt 13 lc rgb '#009E73' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(4))) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(4))) with points ps small_point pt 11 lc rgb '#E69F00' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(5))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset label
unset arrow
set label '10 rows' at screen 0.79,0.775 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.745
set bmargin at screen 0.229
set yrange [0:4046.99]
beside = ' 100 1000 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(6))) with linespoints lw 3 lc rgb '#777777' ps large_point pt 6 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(6))) with points ps small_point pt 6 lc rgb '#777777' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(7))) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(7))) with points ps small_point pt 13 lc rgb '#009E73' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(8))) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(beside_line($1, column(8))) with points ps small_point pt 11 lc rgb '#E69F00' notitle, \
     '04_warp_softmax_further.csv' skip 1 using 1:(on_line($1, column(9))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset multiplot
unset output
finished = 1
