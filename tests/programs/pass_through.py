"""A behaviour on every function, which reads all inputs and changes nothing."""

from framedex_native.behaviour import on


@on("*")
def through(call):
    dict(call.arguments)
    dict(call.run())
