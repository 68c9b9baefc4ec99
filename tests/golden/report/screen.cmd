tl-report "$SAMPLE"
