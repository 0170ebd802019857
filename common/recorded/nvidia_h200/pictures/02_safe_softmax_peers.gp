# `gnuplot 02_safe_softmax_peers.gp` in this folder draws 02_safe_softmax_peers from 02_safe_softmax_peers.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '02_safe_softmax_peers.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '02 safe beside what one would use instead' at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.619 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit 2bf3e9218302, 2026-11-23' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from screen 0.02,0.835 to screen 0.046,0.835 nohead lw 5.5 lc rgb '#D55E00'
set label '' at screen 0.033,0.835 point pt 5 ps large_point lc rgb '#D55E00'
set label '02 safe, its fastest variant' at screen 0.054,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.3616,0.835 to screen 0.3876,0.835 nohead lw 3 lc rgb '#CC79A7'
set label '' at screen 0.3746,0.835 point pt 9 ps large_point lc rgb '#CC79A7'
set label 'nvidia_online_softmax/naive' at screen 0.3956,0.835 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.783 to screen 0.046,0.783 nohead lw 3 lc rgb '#0072B2'
set label '' at screen 0.033,0.783 point pt 7 ps large_point lc rgb '#0072B2'
set label 'oneflow_warp_softmax/softmax' at screen 0.054,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.3616,0.783 to screen 0.3876,0.783 nohead lw 3 lc rgb '#009E73'
set label '' at screen 0.3746,0.783 point pt 13 ps large_point lc rgb '#009E73'
set label 'fastertransformer_softmax/v5' at screen 0.3956,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.7032,0.783 to screen 0.7292,0.783 nohead lw 3 lc rgb '#E69F00'
set label '' at screen 0.7162,0.783 point pt 11 ps large_point lc rgb '#E69F00'
set label 'cudnn/fast' at screen 0.7372,0.783 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.731 to screen 0.046,0.731 nohead lw 3 lc rgb '#56B4E9'
set label '' at screen 0.033,0.731 point pt 15 ps large_point lc rgb '#56B4E9'
set label 'torch_eager' at screen 0.054,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.1882,0.731 to screen 0.2142,0.731 nohead lw 3 lc rgb '#7F3C8D'
set label '' at screen 0.2012,0.731 point pt 5 ps large_point lc rgb '#7F3C8D'
set label 'torch_compile' at screen 0.2222,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.3768,0.731 to screen 0.4028,0.731 nohead lw 3 lc rgb '#8C510A'
set label '' at screen 0.3898,0.731 point pt 9 ps large_point lc rgb '#8C510A'
set label 'triton_row' at screen 0.4108,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.5348,0.731 to screen 0.5608,0.731 nohead lw 3 lc rgb '#6B8E23'
set label '' at screen 0.5478,0.731 point pt 13 ps large_point lc rgb '#6B8E23'
set label 'oneflow_block_softmax/softmax' at screen 0.5688,0.731 left noenhanced tc rgb '#222222'
set arrow from screen 0.02,0.679 to screen 0.046,0.679 nohead lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at screen 0.054,0.679 left noenhanced tc rgb '#222222'
set logscale x
set xrange [833.333:1200000]
set xtics ('1k' 1000, '4k' 4000, '32k' 32000, '128256' 128256, '1M' 1000000)
set xlabel 'columns' noenhanced offset 0,0.8
set multiplot
set label '4000 rows' at screen 0.29,0.619 center noenhanced tc rgb '#222222'
set lmargin at screen 0.1
set rmargin at screen 0.48
set tmargin at screen 0.589
set bmargin at screen 0.225
set yrange [0:4630.17]
plot '02_safe_softmax_peers.csv' skip 1 using 1:(column(3)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(4)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(5)) with linespoints lw 3 lc rgb '#009E73' ps large_point pt 13 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(6)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(7)) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(8)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(9)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(10)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(11)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(2)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset label
unset arrow
set label '10 rows; the copy goes on to 3918' at screen 0.79,0.619 center noenhanced tc rgb '#222222'
set lmargin at screen 0.6
set rmargin at screen 0.98
set tmargin at screen 0.589
set bmargin at screen 0.225
set yrange [0:1830.99]
plot '02_safe_softmax_peers.csv' skip 1 using 1:(column(13)) with linespoints lw 3 lc rgb '#CC79A7' ps large_point pt 9 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(14)) with linespoints lw 3 lc rgb '#0072B2' ps large_point pt 7 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(15)) with linespoints lw 3 lc rgb '#E69F00' ps large_point pt 11 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(16)) with linespoints lw 3 lc rgb '#56B4E9' ps large_point pt 15 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(17)) with linespoints lw 3 lc rgb '#7F3C8D' ps large_point pt 5 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(18)) with linespoints lw 3 lc rgb '#8C510A' ps large_point pt 9 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(19)) with linespoints lw 3 lc rgb '#6B8E23' ps large_point pt 13 notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(20)) with lines lw 2 dt (9,6) lc rgb '#222222' notitle, \
     '02_safe_softmax_peers.csv' skip 1 using 1:(column(12)) with linespoints lw 5.5 lc rgb '#D55E00' ps large_point pt 5 notitle
unset multiplot
unset output
finished = 1
