def begin(request, watch):
    pass
