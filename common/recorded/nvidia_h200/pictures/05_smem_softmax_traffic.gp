# `gnuplot 05_smem_softmax_traffic.gp` in this folder draws 05_smem_softmax_traffic from 05_smem_softmax_traffic.csv. Written by `./stages plot`.
set encoding utf8

reset
large_point = 0.75
small_point = 0.42
set terminal svg size 1200,675 dynamic background rgb 'white' font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'
set output '05_smem_softmax_traffic.svg'
set datafile separator comma
set datafile missing NaN
unset key
set border 3 lc rgb '#555555' lw 1
set tics nomirror out textcolor rgb '#333333'
unset mxtics
unset mytics
set grid ytics lc rgb '#dddddd' lw 1 lt 1
set label "05 smem: bytes moved per element of x" at screen 0.02,0.95 left noenhanced font ',26' tc rgb '#222222'
set label "counted on the CPU device; DRAM: recorded on NVIDIA H200, not measured here" at screen 0.02,0.893 left noenhanced tc rgb '#222222'
set label "bytes per element" at screen 0.02,0.84 left noenhanced tc rgb '#333333'
set label "counted: what threads load and store (float32, 256 x 1024). DRAM: what of it left the caches, by the GPU's own counters" at screen 0.02,0.062 left noenhanced font ',14' tc rgb '#777777'
set label "DRAM: NVIDIA H200, commit 1d418c655682, 2026-11-23" at screen 0.02,0.028 left noenhanced font ',14' tc rgb '#777777'
set object rectangle from screen 0.7426,0.778 to screen 0.7586,0.806 fc rgb '#D55E00' fs solid noborder
set label "as the lesson declares" at screen 0.7666,0.79 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.726 to screen 0.7586,0.754 fc rgb '#CC79A7' fs solid noborder
set label "as counted" at screen 0.7666,0.738 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.674 to screen 0.7586,0.702 fc rgb '#0072B2' fs solid noborder
set label "DRAM, 4000 x 4000" at screen 0.7666,0.686 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.622 to screen 0.7586,0.65 fc rgb '#009E73' fs solid noborder
set label "DRAM, 4000 x 128256" at screen 0.7666,0.634 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.55 to screen 0.7586,0.578 fc rgb '#CCCCCC' fs solid noborder
set label "writes" at screen 0.7666,0.562 left noenhanced tc rgb '#222222'
set object rectangle from screen 0.7426,0.498 to screen 0.7586,0.526 fc rgb '#777777' fs solid noborder
set label "reads" at screen 0.7666,0.51 left noenhanced tc rgb '#222222'
set xrange [-1:100 - 1]
set xtics ("four_rows_packed" 1.5, "four_rows_interleaved" 6.5, "packed" 11.5, "interleaved" 16.5, "softmax" 21.5, "log_softmax" 26.5, "uncached" 31.5, "short_rows" 36.5, "online_cached" 41.5, "cluster_softmax" 46.5, "cluster_log_softmax" 51.5, "front_softmax" 56.5, "front_log_softmax" 61.5, "softmax_backward" 66.5, "log_softmax_backward" 71.5, "paddle_any_axis" 76.5, "log_softmax_any_axis" 81.5, "softmax_any_axis" 86.5, "any_axis_backward" 91.5, "any_axis_log_backward" 96.5) noenhanced scale 0 rotate by 28 right font ',12'
set boxwidth 0.86
set style fill solid noborder
set yrange [0:20.4368]
set xlabel "" noenhanced offset 0,0.3
set lmargin at screen 0.095
set rmargin at screen 0.7306
set tmargin at screen 0.81
set bmargin at screen 0.225
plot '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 0):(column(2) + column(3)) with boxes fc rgb '#EEBF99' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 0):(column(2)) with boxes fc rgb '#D55E00' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 1):(column(4) + column(5)) with boxes fc rgb '#EBC9DC' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 1):(column(4)) with boxes fc rgb '#CC79A7' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 2):(column(6) + column(7)) with boxes fc rgb '#99C7E0' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 2):(column(6)) with boxes fc rgb '#0072B2' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 3):(column(8) + column(9)) with boxes fc rgb '#99D8C7' notitle, \
     '05_smem_softmax_traffic.csv' skip 1 using ($0 * 5 + 3):(column(8)) with boxes fc rgb '#009E73' notitle
unset output
finished = 1
