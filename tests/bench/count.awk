# count.awk - a line for each kernel of a PTX file: name, instructions, barriers, calls, indirect calls, stack frame (bytes)
/\.entry/ {
    name = $0; sub(/.*\.entry */, "", name); sub(/\(.*/, "", name)
    n = bars = calls = indirect = stack = 0; inside = 1
}
inside && /^\t*[{]*\t*@?[%a-z]/ && !/^\t*\./ { n++ }
inside && /bar(rier)?\.(cta\.)?(sync|red|arrive)/ { bars++ }
inside && /call/ { calls++; if (/%rd?[0-9]+ *,/ || /prototype/) indirect++ }
inside && /__local_depot.*\[/ { stack = $0; sub(/.*\[/, "", stack); sub(/\].*/, "", stack) }
inside && /^}/ { print name, n, bars, calls, indirect, stack; inside = 0 }
