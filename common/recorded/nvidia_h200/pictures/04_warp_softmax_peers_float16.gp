# `gnuplot 04_warp_softmax_peers_float16.gp` in this folder draws 04_warp_softmax_peers_float16 from 04_warp_softmax_peers_float16.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '04_warp_softmax_peers_float16.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '04 warp beside what one would use instead, float16, 49152 rows' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 2bf3e9218302, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.6532,0.766667 to screen 0.6792,0.766667 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.6872,0.766667 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.714667 to screen 0.6792,0.714667 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.6662,0.714667 point pt 5 ps large_point lc rgb '#D55E00'
set label '04 warp, its fastest variant' at screen 0.6872,0.714667 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.662667 to screen 0.6792,0.662667 nohead lw 3 lc rgb '#56B4E9'
set label '' at screen 0.6662,0.662667 point pt 15 ps large_point lc rgb '#56B4E9'
set label 'torch_compile' at screen 0.6872,0.662667 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.610667 to screen 0.6792,0.610667 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.6662,0.610667 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'triton_row' at screen 0.6872,0.610667 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.543878 to screen 0.6792,0.543878 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.6662,0.543878 point pt 11 ps large_point lc rgb '#E69F00'
set label 'torch_eager' at screen 0.6872,0.543878 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.491878 to screen 0.6792,0.491878 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.6662,0.491878 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'oneflow_warp_softmax/softmax' at screen 0.6872,0.491878 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.436644 to screen 0.6792,0.436644 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.6662,0.436644 point pt 9 ps large_point lc rgb '#8C510A'
set label 'oneflow_block_softmax/softmax' at screen 0.6872,0.436644 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.384644 to screen 0.6792,0.384644 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.6662,0.384644 point pt 7 ps large_point lc rgb '#0072B2'
set label 'fastertransformer_softmax/v5' at screen 0.6872,0.384644 left noenhanced tc rgb '#222222'
set arrow from screen 0.6532,0.332644 to screen 0.6792,0.332644 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.6662,0.332644 point pt 13 ps large_point lc rgb '#009E73'
set label 'cudnn/fast' at screen 0.6872,0.332644 left noenhanced tc rgb '#222222'
set logscale x
set xrange [213.333:1228.8]
set xtics ('256' 256, '1024' 1024)
set xlabel 'columns' noenhanced offset 0,0.8
set label '' at screen 0.3701,0.84 center noenhanced tc rgb '#222222'
set lmargin at screen 0.095
set rmargin at screen 0.6452
set tmargin at screen 0.81
set bmargin at screen 0.225
set yrange [0:4529.85]
plot '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(7)) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(9)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(10)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '04_warp_softmax_peers_float16.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset output
finished = 1
