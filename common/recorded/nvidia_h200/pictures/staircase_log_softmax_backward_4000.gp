# `gnuplot staircase_log_softmax_backward_4000.gp` in this folder draws staircase_log_softmax_backward_4000 from staircase_log_softmax_backward_4000.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output 'staircase_log_softmax_backward_4000.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label 'Every stage''s log softmax backward, 4000 rows' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; the fastest of a stage''s lesson; 10 more shapes are recorded' at screen 0.02,0.086 left noenhanced font ',14' tc rgb '#777777'
set label 'lines join the widths 63, 126, 252, ... of the paper; small points: round widths such as 100, where a kernel may be faster or slower' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit d5551bd92cd9, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.8368,0.766382 to screen 0.8628,0.766382 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.8708,0.766382 left noenhanced tc rgb '#222222'
set arrow from screen 0.8368,0.714382 to screen 0.8628,0.714382 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.8498,0.714382 point pt 11 ps large_point lc rgb '#E69F00'
set label '05, further' at screen 0.8708,0.714382 left noenhanced tc rgb '#222222'
set arrow from screen 0.8368,0.636348 to screen 0.8628,0.636348 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.8498,0.636348 point pt 13 ps large_point lc rgb '#009E73'
set label '04, further' at screen 0.8708,0.636348 left noenhanced tc rgb '#222222'
set logscale x
set xrange [8.33333:1200000]
set xtics format '%.0s%c'
set xlabel 'columns' noenhanced offset 0,0.8
set label '' at screen 0.4619,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.8288
set tmargin at screen 0.81
set bmargin at screen 0.229
set yrange [0:4771.16]
beside = ' 100 1000 4000 10000 32000 100000 128256 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot 'staircase_log_softmax_backward_4000.csv' skip 1 using 1:(on_line($1, column(2))) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     'staircase_log_softmax_backward_4000.csv' skip 1 using 1:(beside_line($1, column(2))) with points ps small_point pt 13 lc rgb '#009E73' notitle, \
     'staircase_log_softmax_backward_4000.csv' skip 1 using 1:(on_line($1, column(3))) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     'staircase_log_softmax_backward_4000.csv' skip 1 using 1:(beside_line($1, column(3))) with points ps small_point pt 11 lc rgb '#E69F00' notitle, \
     'staircase_log_softmax_backward_4000.csv' skip 1 using 1:(on_line($1, column(4))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
