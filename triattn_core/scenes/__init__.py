"""Scenes: the one way from what somebody chose to what is drawn, written, exported or made again.

To add a view: a module here with `Settings` and `build`, which returns a `Scene`, and a line in `catalogue.SCENES`.
`cube` is the shortest.  Of an Altair chart a figure is `charts.Chart.of`; several tables become one by
`scene.stack_tables`.
"""
