"""What the studio keeps beyond a page: training runs, each in a process of its own.

Its modules are imported one by one: the app looks for trained models (`models`) at every page, and
only who trains shall wait for torch (`runs`, `trainer`).
"""
