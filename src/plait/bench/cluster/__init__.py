"""The suite on the nodes of a Ray cluster, each job in plain processes of its node.

The user's process (`executor`) keeps the journal and knows nothing of Ray. It starts a process that
does (`driver`, `fleet`) and that decides who does what (`dispatch`). On every node Ray starts one
actor for each job at a time, which is no more than a line to a plain process (`node`); that one has
imported everything and does jobs as the pool of one machine does them.
"""
