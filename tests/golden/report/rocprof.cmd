tl-gen --rocprof --seed 3 | tl-report --width 72
