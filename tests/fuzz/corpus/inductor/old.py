triton_x = async_compile.triton('triton_x', '''
    size_hints=[8, 4],
    triton_meta={'signature': {0: '*bf16'}},
''', device_str='cuda')
# Original ATen: []
triton_y=async_compile.triton('', '''
