# Summarises a CSV file: for each value of column `key` the count, sum, least and greatest of column `value`.
#   awk -f summary.awk [-v key=N] [-v value=N] [-v separator=S] [FILE]
# The first line names the columns. Fields may be quoted; "" inside quotes is one quote.

BEGIN {
    if (key == "") key = 1
    if (value == "") value = 2
    if (separator == "") separator = ","
}

# Splits a line into field[1..n]; returns n, or 0 when a quote stays open.
function split_line(line, field,    n, i, c, quoted) {
    n = 1
    field[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") {
            field[n] = field[n] c
            i++
        } else if (c == "\"") {
            quoted = !quoted
        } else if (c == separator && !quoted) {
            field[++n] = ""
        } else {
            field[n] = field[n] c
        }
    }
    return quoted ? 0 : n
}

{ sub(/\r$/, "") }

NR == 1 {
    columns = split_line($0, name)
    if (key > columns || value > columns) {
        print "summary: there are only " columns " columns" > "/dev/stderr"
        failed = 2
        exit 2
    }
    next
}

$0 == "" { next }

{
    if (!split_line($0, field)) {
        print "summary: line " NR ": a quote is not closed" > "/dev/stderr"
        failed = 1
        next
    }
    if (field[value] !~ /^-?[0-9]+(\.[0-9]+)?$/) {
        print "summary: line " NR ": not a number: " field[value] > "/dev/stderr"
        skipped++
        next
    }
    group = field[key]
    if (!(group in count)) {
        order[++groups] = group
        least[group] = greatest[group] = field[value] + 0
    }
    count[group]++
    sum[group] += field[value]
    if (field[value] + 0 < least[group]) least[group] = field[value] + 0
    if (field[value] + 0 > greatest[group]) greatest[group] = field[value] + 0
}

END {
    if (failed == 2) exit 2
    printf "%-12s %6s %10s %10s %10s\n", name[key], "count", "sum", "least", "greatest"
    for (i = 1; i <= groups; i++) {
        group = order[i]
        printf "%-12s %6d %10.2f %10.2f %10.2f\n", group, count[group], sum[group], least[group], greatest[group]
    }
    if (skipped) printf "%d line(s) skipped\n", skipped
    exit failed + 0
}
