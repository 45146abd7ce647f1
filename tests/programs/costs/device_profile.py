"""Parse the result of `jax.profiler.device_memory_profile()`: a compressed pprof profile (profile.proto)."""

import gzip


def bytes_by_device(profile):
    """The bytes of buffers on each device, by the device's name."""
    sorts, samples, strings = [], [], []
    for number, value in _fields(gzip.decompress(profile)):
        {1: sorts, 2: samples, 6: strings}.get(number, []).append(value)
    strings = [text.decode() for text in strings]
    space = [strings[dict(_fields(sort))[1]] for sort in sorts].index("space")
    found = {}
    for sample in samples:
        values, labels = [], {}
        for number, value in _fields(sample):
            if number == 2:
                values += [value] if isinstance(value, int) else _numbers(value)
            elif number == 3:
                label = dict(_fields(value))
                labels[strings[label[1]]] = strings[label[2]]
        if labels["kind"] == "buffer":
            found[labels["device"]] = found.get(labels["device"], 0) + values[space]
    return found


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        value, at = _number(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def _numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = _number(data, at)
        found.append(value)
    return found


def _number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
