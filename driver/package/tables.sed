# Manual pages as installed: cells of wide tables are text blocks, which tbl fills to the width of the screen.
/^\.TS/,/^\.TE/{
s/^l l l\.$/lx l lx./
s/^([^\t]+)\t([^\t]+)\t(.+)$/T{\n\1\nT}\t\2\tT{\n\3\nT}/
s/^([^\t]+)\t([^\t]+)$/T{\n\1\nT}\t\2/
}
