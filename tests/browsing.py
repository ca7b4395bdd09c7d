"""What the browser tests share: Debian's Chromium, and a script that finds texts with too little contrast."""

import importlib.util
from pathlib import Path

import pytest

CHROMIUM = "/usr/bin/chromium"
MARKS = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Debian's chromium is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
]

# Texts whose colour stands out too little from what is behind them: below 4.5, or 3 for large text.
CONTRAST = """() => {
    const parse = colour => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n }
    const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1)
    const light = rgb => rgb.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
    const poor = []
    for (const element of document.querySelectorAll('body *')) {
        const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join('')
        if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
        if (element.closest('svg') && element.tagName === 'title') continue
        if (['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue
        const layers = []
        let opacity = 1
        for (let at = element; at; at = at.parentElement) {
            layers.push(parse(getComputedStyle(at).backgroundColor))
            opacity *= Number(getComputedStyle(at).opacity)
        }
        const behind = layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1])
        const style = getComputedStyle(element)
        const colour = parse(element.closest('svg') ? style.fill : style.color)
        const front = over([...colour.slice(0, 3), colour[3] * opacity], behind)
        const [high, low] = [light(front), light(behind)].sort((a, b) => b - a)
        const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700
        const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5
        const ratio = (high + .05) / (low + .05)
        if (ratio < needed) poor.push(`${ratio.toFixed(2)} ${element.tagName} ${element.className}: ${text}`)
    }
    return poor
}"""
