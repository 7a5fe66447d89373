# reductions.awk - a line for each kernel of a PTX file: name, instructions, barriers, shuffles (a redux counts as one), most global loads
# in one basic block, indirect calls, stack frame (bytes), 64-bit divisions
/\.entry/ {
    name = $0; sub(/.*\.entry */, "", name); sub(/\(.*/, "", name)
    n = bars = shuffles = loads = block = indirect = stack = divisions = 0; inside = 1
}
inside && /^\$L|^\t*@?!?%?p?[0-9]*[ \t]*bra/ { block = 0 }
inside && /^\t*[{]*\t*@?[%a-z]/ && !/^\t*\./ { n++ }
inside && /bar(rier)?\.(cta\.)?(sync|red|arrive)/ { bars++ }
inside && /shfl\.sync|redux\.sync/ { shuffles++ }
inside && /ld\.global/ { block++; if (block > loads) loads = block }
inside && /call/ { if (/%rd?[0-9]+ *,/ || /prototype/) indirect++ }
inside && /__local_depot.*\[/ { stack = $0; sub(/.*\[/, "", stack); sub(/\].*/, "", stack) }
inside && /(div|rem)\.[us]64/ { divisions++ }
inside && /^}/ { print name, n, bars, shuffles, loads, indirect, stack, divisions; inside = 0 }
