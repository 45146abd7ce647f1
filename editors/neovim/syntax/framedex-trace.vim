" The colours of a trace without semantic tokens, which Neovim supports since 0.9.
if exists("b:current_syntax")
  finish
endif
syntax match framedexHead /\%1l.*/
syntax match framedexNumber /^ *\d\+\ze [NP] /
syntax match framedexPlace /\%( at \| or \)\@4<=\/.\{-}:\d\+/
syntax match framedexHow /\[[a-z-]\+\]$/
highlight default link framedexHead Comment
highlight default link framedexNumber LineNr
highlight default link framedexPlace Directory
highlight default link framedexHow Comment
let b:current_syntax = "framedex-trace"
