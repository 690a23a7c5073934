# bench/median.awk — the median of a list of numbers with blanks between them; "" of none. For medians.awk and compare.awk
function median(list,    n, i, j, v, a) {
    n = split(list, a, " ")
    for (i = 2; i <= n; i++) {
        v = a[i] + 0
        for (j = i - 1; j > 0 && a[j] + 0 > v; j--)
            a[j + 1] = a[j]
        a[j + 1] = v
    }
    return n == 0 ? "" : n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
