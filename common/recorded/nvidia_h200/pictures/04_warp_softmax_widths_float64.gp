# `gnuplot 04_warp_softmax_widths_float64.gp` in this folder draws 04_warp_softmax_widths_float64 from 04_warp_softmax_widths_float64.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '04_warp_softmax_widths_float64.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '04 warp: every kind of width, 256 MB, float64' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c52587a2b3b5, 2026-11-21' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.7756,0.757303 to screen 0.8016,0.757303 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.8096,0.757303 left noenhanced tc rgb '#222222'
set arrow from screen 0.7756,0.705303 to screen 0.8016,0.705303 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.7886,0.705303 point pt 13 ps large_point lc rgb '#009E73'
set label 'softmax' at screen 0.8096,0.705303 left noenhanced tc rgb '#222222'
set arrow from screen 0.7756,0.653303 to screen 0.8016,0.653303 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.7886,0.653303 point pt 11 ps large_point lc rgb '#E69F00'
set label 'softmax_any_width' at screen 0.8096,0.653303 left noenhanced tc rgb '#222222'
set logscale x
set xrange [0.833333:1228.8]
set xtics format '%.0s%c'
set xlabel 'columns' noenhanced offset 0,0.8
set label '' at screen 0.4313,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.7676
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:4605.54]
plot '04_warp_softmax_widths_float64.csv' skip 1 using 1:(column(2)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '04_warp_softmax_widths_float64.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '04_warp_softmax_widths_float64.csv' skip 1 using 1:(column(4)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle
unset output
finished = 1
