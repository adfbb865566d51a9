"""Record the attention of any PyTorch model, and prove that it is what the model used.

    with record(model) as tape:
        model(**inputs)
    trace = tape.trace(tokens=tokens)

`module_stack` knows which module runs, `watch` sees its softmax and SDPA calls, `follow` leads each softmax to its
product with values, `rebuild` makes the weights of a fused call again and measures the error, `names` gives sites,
`tape` makes the trace.
"""
