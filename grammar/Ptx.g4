// PTX as the PTX ISA 9.0 manual describes it, reduced to its shape: what an opcode means stands in
// goptx/ptx/opcodes.py, not here. One look at the next token decides everywhere (LL(1)), and labels
// (`x=`, `xs+=`) carry what the reader needs, so no parse tree is built.
grammar Ptx;

module: items+=item* EOF;

item
    : '.version' number=(FLOAT | INTEGER | NAME)                               # version
    | '.target' names+=NAME (',' names+=NAME)*                                # target
    | '.address_size' bits=INTEGER                                            # addressSize
    | '.file' index=INTEGER path=STRING (',' stamp=INTEGER ',' size=INTEGER)? # file
    | '.section' name=(DOTTED | NAME) '{' words+=sectionWord* '}'             # section
    | '.pragma' texts+=STRING (',' texts+=STRING)* ';'                        # modulePragma
    | '.alias' names+=NAME ',' names+=NAME ';'                                # alias
    | linkage+=LINKAGE* of=linked                                             # symbol
    ;

// Debug sections are not interpreted; their words are kept in order.
sectionWord: word=(DOTTED | NAME | INTEGER | FLOAT | STRING | ',' | ':' | '+' | '-' | '.file');

linked: of_variable=variable ';' | of_entry=entry | of_function=function;

entry: '.entry' name=NAME ('(' (params+=variable (',' params+=variable)*)? ')')? directives+=directive* (body=block | ';');

function
    : '.func' before+=DOTTED* ('(' results+=variable (',' results+=variable)* ')')? name=NAME
      ('(' (params+=variable (',' params+=variable)*)? ')')? directives+=directive* (body=block | ';')
    ;

directive
    : name=DOTTED (values+=INTEGER (',' values+=INTEGER)*)?
    | '.pragma' texts+=STRING (',' texts+=STRING)* ';'
    ;

// .global .align 4 .b8 table[2][3] = {...}      .param .u64 .ptr .global .align 16 x
variable: space=SPACE qualifiers+=qualifier* (name=NAME dims+=dimension* ('=' init=initializer)?)?;

qualifier
    : word=(DOTTED | SPACE)
    | '.align' bytes=INTEGER
    | '.attribute' '(' attributes+=attribute (',' attributes+=attribute)* ')'
    ;

attribute: name=DOTTED ('(' values+=INTEGER (',' values+=INTEGER)* ')')?;

dimension: '[' size=INTEGER? ']';

initializer: '{' (parts+=initializer (',' parts+=initializer)*)? '}' | of=expression;

block: '{' statements+=statement* '}';

statement
    : name=NAME (colon=':' | (operands+=operand (',' operands+=operand)*)? ';')                      # named
    | '@' negated='!'? guard=NAME opcode=NAME (operands+=operand (',' operands+=operand)*)? ';'          # guarded
    | '.reg' types+=DOTTED+ registers+=registerName (',' registers+=registerName)* ';'               # registers
    | linkage+=LINKAGE* of=variable ';'                                                              # local
    | of_block=block                                                                                 # scope
    | '.loc' where+=INTEGER where+=INTEGER where+=INTEGER (',' words+=locationWord)* # location
    | '.pragma' texts+=STRING (',' texts+=STRING)* ';'                                               # pragma
    | '.branchtargets' names+=NAME (',' names+=NAME)* ';'                                            # branchTargets
    | '.calltargets' names+=NAME (',' names+=NAME)* ';'                                              # callTargets
    | '.callprototype' ('(' results+=variable (',' results+=variable)* ')')? name=NAME
      '(' (params+=variable (',' params+=variable)*)? ')' directives+=directive* ';'                 # callPrototype
    ;

// function_name L + 4      inlined_at 1 2 3
locationWord: word=NAME (name=NAME ('+' offset=INTEGER)? | where+=INTEGER where+=INTEGER where+=INTEGER);

registerName: name=NAME ('<' count=INTEGER '>')?;

operand
    : '{' (parts+=operand (',' parts+=operand)*)? '}'           # vector
    | '[' parts+=operand (',' parts+=operand)* ']'              # address
    | '(' (parts+=operand (',' parts+=operand)*)? ')'           # tuple
    | '!' name=NAME                                             # negated
    | first=NAME ('|' other=NAME | tail+=tailTerm*)               # symbolic
    | number=signed tail+=tailTerm*                             # literal
    ;

tailTerm: operator=('+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '^') of_term=term;

signed: sign=('-' | '+' | '~')? number=(INTEGER | FLOAT);

term: sign=('-' | '+' | '~' | '!')? of=(INTEGER | FLOAT | NAME);

// Constant expressions of directives and initialisers.
expression: first=expressionTerm tail+=expressionTail*;

expressionTail: operator=('+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '|' | '^') term_=expressionTerm;

expressionTerm
    : sign=('-' | '+' | '~' | '!')? of=(INTEGER | FLOAT | STRING) ('(' masked=expression ')')?
    | name=NAME ('(' inner=expression ')')?
    | '(' nested=expression ')'
    ;

LINKAGE: '.visible' | '.extern' | '.weak' | '.common';
SPACE: '.global' | '.shared' | '.const' | '.local' | '.param' | '.tex' | '.sreg';

NAME: [a-zA-Z_$%] [a-zA-Z0-9_$%]* ('.' [a-zA-Z0-9_$]+ | '::' [a-zA-Z0-9_$]+)*;
DOTTED: '.' [a-zA-Z_] [a-zA-Z0-9_$]* ('::' [a-zA-Z0-9_$]+)*;
FLOAT: '0' [fF] HEX+ | '0' [dD] HEX+ | [0-9]+ '.' [0-9]* EXPONENT? | [0-9]+ EXPONENT | '.' [0-9]+ EXPONENT?;
INTEGER: ('0' [xX] HEX+ | '0' [bB] [01]+ | '0' [0-7]* | [1-9] [0-9]*) 'U'?;
STRING: '"' (~["\\\r\n] | '\\' .)* '"';

fragment HEX: [0-9a-fA-F];
fragment EXPONENT: [eE] [+-]? [0-9]+;

SPACES: [ \t\r\n\f\u000B]+ -> skip;
LINE_COMMENT: '//' ~[\r\n]* -> skip;
BLOCK_COMMENT: '/*' .*? '*/' -> skip;
OTHER: .;
