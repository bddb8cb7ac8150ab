"""The program model that the front end produces and everything else reads."""
