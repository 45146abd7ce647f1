"""A behaviour on every function, which reads all that it is given and does what would happen without it."""

from framedex_native.behaviour import on


@on("*")
def through(call):
    dict(call.arguments)
    dict(call.run())
