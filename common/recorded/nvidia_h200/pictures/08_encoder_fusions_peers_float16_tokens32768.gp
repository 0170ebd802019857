# `gnuplot 08_encoder_fusions_peers_float16_tokens32768.gp` in this folder draws 08_encoder_fusions_peers_float16_tokens32768 from 08_encoder_fusions_peers_float16_tokens32768.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '08_encoder_fusions_peers_float16_tokens32768.svg'
set datafile separator comma
set datafile commentschars ''
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label '08 encoder fusions beside what one would use instead, float16, 32768 tokens, 1024 hidden' at screen 0.02,0.95 left noenhanced font ',21' tc rgb '#222222'
set label 'recorded on NVIDIA H200, not measured here' at screen 0.02,0.893 left noenhanced font ',20' tc rgb '#222222'
set label 'effective GB/s' at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label 'effective: bytes of x and of the result over the median time, caches flushed; timed in turn' at screen 0.02,0.054 left noenhanced font ',14' tc rgb '#777777'
set label 'NVIDIA H200, CUDA 13.0, driver 580.159.04, commit c933fc4f6f30 (kernels), 5e628ac77fcb (encoders), 2026-11-26' at screen 0.02,0.022 left noenhanced font ',14' tc rgb '#777777'
set arrow from first 4173.5, graph 0 to first 4173.5, graph 1 nohead front lw 2 dt (9,6) lc rgb '#222222'
set label 'copy (roof)' at first 4173.5, graph 1.04 center tc rgb '#222222'
set xrange [0:4732.75]
set yrange [3 - 0.4:-0.6]
set ytics ('08 encoder fusions, its fastest variant  3920' 0, 'torch_eager  1065' 1, 'torch_compile  2486' 2) noenhanced scale 0
set style fill solid noborder
unset grid
set grid xtics lc rgb '#dddddd' lw 1 lt 1
set xlabel '' noenhanced offset 0,0.8
set lmargin at screen 0.489
set rmargin at screen 0.96
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '08_encoder_fusions_peers_float16_tokens32768.csv' skip 1 using (0):0:(0):2:($0 - 0.36):($0 + 0.36) with boxxyerror fc rgb '#D55E00' notitle
unset output
finished = 1
