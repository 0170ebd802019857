# `gnuplot 05_smem_softmax_widths_bfloat16.gp` in this folder draws 05_smem_softmax_widths_bfloat16 from 05_smem_softmax_widths_bfloat16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '05_smem_softmax_widths_bfloat16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '05 smem: every kind of width, 512 MB, bfloat16' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 1d418c655682, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.8164,0.759579 to screen 0.8424,0.759579 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.8504,0.759579 left noenhanced tc rgb '#222222'
set arrow from screen 0.8164,0.689663 to screen 0.8424,0.689663 nohead lw 5.5 lc rgb '#E69F00'
set label '' at screen 0.8294,0.689663 point pt 11 ps large_point lc rgb '#E69F00'
set label 'front_softmax' at screen 0.8504,0.689663 left noenhanced tc rgb '#222222'
set logscale x
set xrange [0.833333:1.25829e+06]
set xtics format '%.0s%c'
set xlabel 'columns' noenhanced offset 0,0.8
set arrow from first 1, graph 0 to first 1, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' packs' at first 1, graph 0.04 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 3, graph 0 to first 3, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' lanes' at first 3, graph 0.1 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 2047, graph 0 to first 2047, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' block' at first 2047, graph 0.16 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 2048, graph 0 to first 2048, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' tile' at first 2048, graph 0.04 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 18433, graph 0 to first 18433, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' cluster' at first 18433, graph 0.1 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 720897, graph 0 to first 720897, graph 1 nohead back lw 1 dt (3,5) lc rgb '#777777'
set label ' grid' at first 720897, graph 0.16 left noenhanced font ',14' tc rgb '#777777'
set label '' at screen 0.4517,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.8084
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:4660.19]
plot '05_smem_softmax_widths_bfloat16.csv' skip 1 using 1:(column(3)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '05_smem_softmax_widths_bfloat16.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#E69F00' ps large_point pt 11 notitle
unset output
finished = 1
