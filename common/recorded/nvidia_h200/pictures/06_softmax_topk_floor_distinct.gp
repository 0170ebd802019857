# `gnuplot 06_softmax_topk_floor_distinct.gp` in this folder draws 06_softmax_topk_floor_distinct from 06_softmax_topk_floor_distinct.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '06_softmax_topk_floor_distinct.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '06 softmax topk: time beside that of a read, input distinct, k = 5' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'time of one launch' at screen 0.02,0.723 left noenhanced tc rgb '#333333'
set label 'median time of one launch, caches flushed; 7 more shapes are recorded' at screen 0.02,0.086 left noenhanced font ',14' tc rgb '#777777'
set label 'lines join the widths 63, 126, 252, ... of the paper; small points: round widths such as 100, where a kernel may be faster or slower' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 5babffc1eeab, 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 3 lc rgb '#56B4E9'
set label '' at screen 0.033,0.835 point pt 15 ps large_point lc rgb '#56B4E9'
set label 'safe_unfused' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.1984,0.835 to screen 0.2244,0.835 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.2114,0.835 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'online_unfused' at screen 0.2324,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.3972,0.835 to screen 0.4232,0.835 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.4102,0.835 point pt 9 ps large_point lc rgb '#8C510A'
set label 'safe_fused' at screen 0.4312,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.5552,0.835 to screen 0.5812,0.835 nohead lw 3 lc rgb '#6B8E23'
set label '' at screen 0.5682,0.835 point pt 13 ps large_point lc rgb '#6B8E23'
set label 'online_fused' at screen 0.5892,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.7336,0.835 to screen 0.7596,0.835 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'read (roof)' at screen 0.7676,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 1.2 lc rgb '#777777'
set label 'empty kernel' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set logscale y
set ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7)
set logscale x
set xrange [52.5:1.23863e+06]
set xtics format '%.0s%c'
set xlabel 'columns' noenhanced offset 0,0.8
set multiplot
set label '4000 rows' at screen 0.29,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.693
set bmargin at screen 0.229
set yrange [1:100000]
beside = ' 100 1000 4000 10000 25000 128256 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(2))) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(2))) with points ps small_point pt 15 lc rgb '#56B4E9' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(3))) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(3))) with points ps small_point pt 5 lc rgb '#7F3C8D' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(4))) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(4))) with points ps small_point pt 9 lc rgb '#8C510A' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(5))) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(5))) with points ps small_point pt 13 lc rgb '#6B8E23' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(6))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(7))) with lines lw 1.2 lc rgb '#777777' notitle
unset label
unset arrow
set label '10 rows' at screen 0.79,0.723 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.693
set bmargin at screen 0.229
set yrange [1:100000]
beside = ' 100 1000 4000 10000 25000 128256 1000000 '
is_beside(x) = strstrt(beside, sprintf(' %.0f ', x)) > 0
on_line(x, y) = is_beside(x) ? NaN : y
beside_line(x, y) = is_beside(x) ? y : NaN
plot '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(8))) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(8))) with points ps small_point pt 15 lc rgb '#56B4E9' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(9))) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(9))) with points ps small_point pt 5 lc rgb '#7F3C8D' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(10))) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(10))) with points ps small_point pt 9 lc rgb '#8C510A' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(11))) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(beside_line($1, column(11))) with points ps small_point pt 13 lc rgb '#6B8E23' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(12))) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '06_softmax_topk_floor_distinct.csv' skip 1 using 1:(on_line($1, column(13))) with lines lw 1.2 lc rgb '#777777' notitle
unset multiplot
unset output
finished = 1
