# `gnuplot staircase_10.gp` in this folder draws staircase_10 from staircase_10.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output 'staircase_10.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label 'Every stage''s softmax, 10 rows' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; the fastest of a stage''s lesson; thin: with what goes beyond' at screen 0.02,0.15 left noenhanced font ',14' tc rgb '#777777'
set label 'it; 10 more shapes are recorded' at screen 0.02,0.118 left noenhanced font ',14' tc rgb '#777777'
set label 'lines join the widths 63, 126, 252, ... of the paper; small points: round widths such as 100, where a kernel may be faster or slower' at screen 0.02,0.086 left noenhanced font ',14' tc rgb '#777777'
set label '01 naive overflows: rows whose exp(x) leaves the range of the type come out as NaN or 0' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit d5551bd92cd9, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.745,0.771704 to screen 0.771,0.771704 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.779,0.771704 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.709 to screen 0.771,0.709 nohead lw 1.2 lc rgb '#E69F00'
set label '05, further' at screen 0.779,0.709 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.657 to screen 0.771,0.657 nohead lw 1.2 lc rgb '#0072B2'
set label '03, further' at screen 0.779,0.657 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.605 to screen 0.771,0.605 nohead lw 1.2 lc rgb '#D55E00'
set label '01, further' at screen 0.779,0.605 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.553 to screen 0.771,0.553 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.758,0.553 point pt 11 ps large_point lc rgb '#E69F00'
set label '05 smem' at screen 0.779,0.553 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.501 to screen 0.771,0.501 nohead lw 3 lc rgb '#D55E00'
set label '' at screen 0.758,0.501 point pt 5 ps large_point lc rgb '#D55E00'
set label '01 naive (overflows)' at screen 0.779,0.501 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.449 to screen 0.771,0.449 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.758,0.449 point pt 7 ps large_point lc rgb '#0072B2'
set label '03 online' at screen 0.779,0.449 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.397 to screen 0.771,0.397 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.758,0.397 point pt 9 ps large_point lc rgb '#CC79A7'
set label '02 safe' at screen 0.779,0.397 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.345 to screen 0.771,0.345 nohead lw 1.2 lc rgb '#009E73'
set label '04, further' at screen 0.779,0.345 left noenhanced tc rgb '#222222'
set arrow from screen 0.745,0.293 to screen 0.771,0.293 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.758,0.293 point pt 13 ps large_point lc rgb '#009E73'
set label '04 warp' at screen 0.779,0.293 left noenhanced tc rgb '#222222'
set logscale x
set xrange [8.33333:1.23863e+06]
set xtics format '%.0s%c'
set xlabel 'columns' noenhanced offset 0,0.8
set label '' at screen 0.416,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.737
set tmargin at screen 0.81
set bmargin at screen 0.293
set yrange [0:4294.17]
beside = ' 100 1000 4000 10000 32000 100000 128256 1000000 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot 'staircase_10.csv' skip 1 using 1:(on_line($1, column(2))) with lines lw 1.2 lc rgb '#D55E00' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(3))) with linespoints lw 3 lc rgb '#D55E00' ps large_point pt 5 notitle, \
     'staircase_10.csv' skip 1 using 1:(beside_line($1, column(3))) with points ps small_point pt 5 lc rgb '#D55E00' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(4))) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     'staircase_10.csv' skip 1 using 1:(beside_line($1, column(4))) with points ps small_point pt 9 lc rgb '#CC79A7' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(5))) with lines lw 1.2 lc rgb '#0072B2' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(6))) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     'staircase_10.csv' skip 1 using 1:(beside_line($1, column(6))) with points ps small_point pt 7 lc rgb '#0072B2' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(7))) with lines lw 1.2 lc rgb '#009E73' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(8))) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     'staircase_10.csv' skip 1 using 1:(beside_line($1, column(8))) with points ps small_point pt 13 lc rgb '#009E73' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(9))) with lines lw 1.2 lc rgb '#E69F00' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(10))) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     'staircase_10.csv' skip 1 using 1:(beside_line($1, column(10))) with points ps small_point pt 11 lc rgb '#E69F00' notitle, \
     'staircase_10.csv' skip 1 using 1:(on_line($1, column(11))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
